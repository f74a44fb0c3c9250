// The map itself: its layers, its camera, and one frame after another.

import { SpringDriver } from "../layout/driver";
import type { Store } from "../store";
import { Camera, clamp, type Point } from "./camera";
import { Drawn } from "./drawn";
import { medianPlace, sampleGroups } from "./labels";
import { drawOverlay } from "./overlay";
import { createPoints, type PointLayer, pointRadius, pointStyles } from "./points";
import type { Ghost, Line, Scene } from "./scene";
import { isMotionReduced, readTheme, type Theme, watchTheme } from "./theme";
import { drawUnderlay } from "./underlay";

const CAMERA_DURATION = 300;
const CHANGE_DURATION = 3_000;

export class MapView implements Scene {
  readonly camera = new Camera();
  readonly drawn = new Drawn();
  theme: Theme;
  radius = 3;
  cursor: number | null = null;
  ghost: Ghost | null = null;
  line: Line | null = null;
  lasso: number[] | null = null;
  labels: Scene["labels"] = [];
  changed: readonly number[] = [];
  /** When points with new colors were on the screen. */
  drawnAt = 0;

  private readonly points: PointLayer;
  private readonly under: CanvasRenderingContext2D;
  private readonly over: CanvasRenderingContext2D;
  private readonly springs: SpringDriver;
  private readonly stops: (() => void)[] = [];
  private readonly resizes: ResizeObserver;
  private samples: Map<number, number[]> | null = null;
  private styles = new Uint8Array(0);
  private frame = 0;
  private unmark: ReturnType<typeof setTimeout> | undefined;
  private arePointsStale = false;
  private areStylesStale = false;
  private flight: { from: Camera; to: Camera; startedAt: number } | null = null;
  private hasFitted = false;
  private hasShownPins = false;

  constructor(
    readonly element: HTMLElement,
    readonly store: Store,
    private readonly root: HTMLElement,
  ) {
    this.points = createPoints(root.dataset["points"] === "webgl");
    const [under, over] = [canvasLayer("ml-plot-under"), canvasLayer("ml-plot-over")];
    [this.under, this.over] = [under, over];
    this.points.canvas.className = "ml-plot-points";
    element.append(under.canvas, this.points.canvas, over.canvas);
    for (const canvas of [under.canvas, this.points.canvas, over.canvas]) canvas.setAttribute("aria-hidden", "true");
    this.theme = readTheme(root);
    this.points.setDark(this.theme.dark);
    this.springs = new SpringDriver(store, isMotionReduced, (positions) => {
      this.drawn.setBase(positions, false, performance.now());
      this.movePoints();
    });
    this.resizes = new ResizeObserver(() => this.resize());
    this.resizes.observe(element);
    this.listen();
    this.resize();
    this.takeAll();
  }

  /** The element that takes pointers. */
  get surface(): HTMLCanvasElement {
    return this.over.canvas;
  }

  get layer(): PointLayer["kind"] {
    return this.points.kind;
  }

  // ---- what changes ----

  private listen(): void {
    const { store } = this;
    this.stops.push(
      store.subscribe("hello", () => {
        this.springs.reset();
        this.cursor = null;
        this.takeAll();
      }),
      store.subscribe(["view", "positions"], () => this.takeView()),
      store.subscribe("edges", () => this.springs.update()),
      store.subscribe("state", () => this.takeState()),
      store.subscribe(["labels", "confidence"], () => this.takeStyles()),
      store.subscribe("labels", () => this.markChanged()),
      store.subscribe("selection", () => this.reveal(store.selection)),
      store.subscribe(["hover", "refused", "question"], () => this.redraw()),
      watchTheme(this.root, () => {
        this.theme = readTheme(this.root);
        this.points.setDark(this.theme.dark);
        this.redrawPoints();
      }),
    );
    this.points.canvas.addEventListener("mustlink-redraw", () => this.redrawPoints());
  }

  private takeAll(): void {
    this.takeView();
    this.takeState();
    this.takeStyles();
  }

  private takeView(): void {
    const positions = this.store.shownPositions;
    if (positions) {
      // A new table starts in full view; a new view of the same rows keeps the camera.
      if (!this.hasFitted || this.drawn.n !== positions.length / 2) {
        this.camera.fit();
        this.hasShownPins = false;
      }
      this.hasFitted = true;
      const places = this.store.view === "spring" ? this.springs.placesFor(positions) : positions;
      this.drawn.setBase(places, this.isAnimated, performance.now());
    }
    this.springs.update();
    this.movePoints();
  }

  private takeState(): void {
    const state = this.store.state;
    if (state && state.pins.every(([row]) => row < this.store.nRows)) {
      this.drawn.setPins(state.pins, this.isAnimated, performance.now());
      this.showPins();
    }
    this.springs.update();
    this.movePoints();
  }

  /** Of a session that is continued, pins outside of the box are in the first view too. */
  private showPins(): void {
    if (this.hasShownPins || !this.hasFitted) return;
    this.hasShownPins = true;
    this.camera.fit(this.drawn.target);
  }

  private takeStyles(): void {
    this.samples = null;
    this.areStylesStale = true;
    this.springs.update();
    this.redrawPoints();
  }

  /** Ring the rows that changed their group for a short time: a new color alone is easily missed. */
  private markChanged(): void {
    if (this.store.changed.length === 0) return;
    this.changed = this.store.changed;
    clearTimeout(this.unmark);
    this.unmark = setTimeout(() => {
      this.changed = [];
      this.redraw();
    }, CHANGE_DURATION);
  }

  /** Hold rows where they were dropped until the server has answered; null lets them go. */
  hold(places: ReadonlyMap<number, readonly [number, number]> | null, rows: Iterable<number> = []): void {
    for (const row of rows) this.drawn.held.delete(row);
    for (const [row, place] of places ?? []) this.drawn.held.set(row, place);
    this.drawn.aim(places === null && this.isAnimated, performance.now());
    this.movePoints();
  }

  private get isAnimated(): boolean {
    return !isMotionReduced();
  }

  private movePoints(): void {
    if (!this.drawn.isMoving) this.points.setPositions(this.drawn.positions);
    this.labels = [];
    this.redrawPoints();
  }

  // ---- camera ----

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    const ratio = window.devicePixelRatio || 1;
    this.camera.resize(width, height);
    this.points.resize(width, height, ratio);
    for (const context of [this.under, this.over]) {
      context.canvas.width = Math.round(width * ratio);
      context.canvas.height = Math.round(height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.redrawPoints();
    // At once: a canvas is empty after a change of its size.
    this.drawNow(performance.now());
  }

  /** Change the camera, at once or by a flight. */
  moveCamera(change: (camera: Camera) => void, animated = false): void {
    if (animated && this.isAnimated) {
      const to = Object.assign(new Camera(), this.camera);
      change(to);
      this.flight = { from: Object.assign(new Camera(), this.camera), to, startedAt: performance.now() };
    } else {
      this.flight = null;
      change(this.camera);
    }
    this.redrawPoints();
  }

  fit(): void {
    this.moveCamera((camera) => camera.fit(this.drawn.target), true);
  }

  focus(rows: readonly number[]): void {
    const known = rows.filter((row) => row < this.drawn.n);
    if (known.length === 0) return;
    const { positions } = this.drawn;
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const row of known) {
      x0 = Math.min(x0, positions[2 * row]!);
      x1 = Math.max(x1, positions[2 * row]!);
      y0 = Math.min(y0, positions[2 * row + 1]!);
      y1 = Math.max(y1, positions[2 * row + 1]!);
    }
    this.moveCamera((camera) => camera.show(x0, y0, x1, y1), true);
  }

  /** Show one or two selected rows that are outside of the view. */
  reveal(rows: readonly number[]): void {
    const isHidden = rows.some((row) => row < this.drawn.n && !this.isInside(row));
    if (rows.length <= 2 && isHidden) this.focus(rows);
    this.redraw();
  }

  private isInside(row: number): boolean {
    const { x, y } = this.screen(row);
    return x >= 0 && y >= 0 && x <= this.camera.width && y <= this.camera.height;
  }

  private fly(now: number): boolean {
    if (!this.flight) return false;
    const { from, to, startedAt } = this.flight;
    const t = clamp((now - startedAt) / CAMERA_DURATION, 0, 1);
    const eased = 1 - (1 - t) ** 3;
    this.camera.x = from.x + eased * (to.x - from.x);
    this.camera.y = from.y + eased * (to.y - from.y);
    this.camera.scale = from.scale * (to.scale / from.scale) ** eased;
    if (t >= 1) this.flight = null;
    return true;
  }

  // ---- places ----

  /** Pixels of the element at which a row is drawn. */
  screen(row: number): Point {
    const { positions } = this.drawn;
    return { x: this.camera.screenX(positions[2 * row]!), y: this.camera.screenY(positions[2 * row + 1]!) };
  }

  /** Row drawn at a pixel of the element. */
  rowAt(x: number, y: number, reach: number): number | null {
    if (this.drawn.n === 0) return null;
    const world = this.camera.toWorld(x, y);
    return this.drawn.grid.nearest(world.x, world.y, reach / this.camera.scale);
  }

  /** Whether more rows than a person can tell apart are in view. */
  isDense(limit: number): boolean {
    const low = this.camera.toWorld(0, this.camera.height);
    const high = this.camera.toWorld(this.camera.width, 0);
    let count = 0;
    this.drawn.grid.eachInBox(low.x, low.y, high.x, high.y, () => ++count <= limit);
    return count > limit;
  }

  // ---- frames ----

  /** Draw what is above and below the points again. */
  redraw(): void {
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.drawNow(now));
  }

  redrawPoints(): void {
    this.arePointsStale = true;
    this.redraw();
  }

  private drawNow(now: number): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.drawn.step(now)) {
      this.points.setPositions(this.drawn.positions);
      this.labels = [];
      this.arePointsStale = true;
    }
    if (this.fly(now)) this.arePointsStale = true;
    this.radius = pointRadius(this.drawn.n, this.camera.zoom);
    const areStylesNew = this.areStylesStale;
    if (areStylesNew) this.uploadStyles();
    if (this.arePointsStale) this.points.draw(this.camera, this.radius);
    this.arePointsStale = false;
    if (this.labels.length === 0) this.placeLabels();
    drawUnderlay(this.under, this);
    drawOverlay(this.over, this);
    if (areStylesNew) this.markDrawn();
    if (this.drawn.isMoving || this.flight) this.redraw();
  }

  private uploadStyles(): void {
    const { labels, confidence } = this.store;
    this.areStylesStale = false;
    if (this.styles.length !== 4 * labels.length) this.styles = new Uint8Array(4 * labels.length);
    this.points.setStyles(pointStyles(labels, confidence, this.styles));
  }

  private placeLabels(): void {
    if (this.store.labels.length !== this.drawn.n) return;
    this.samples ??= sampleGroups(this.store.labels);
    this.labels = [...this.samples].map(([group, rows]) => ({ group, ...medianPlace(rows, this.drawn.positions) }));
  }

  /** The next frame starts when this one has been handed to the screen. */
  private markDrawn(): void {
    requestAnimationFrame(() => {
      this.drawnAt = performance.now();
      performance.mark("mustlink-recolored");
    });
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.unmark);
    this.springs.stop();
    this.resizes.disconnect();
    for (const stop of this.stops) stop();
    this.points.destroy();
    this.element.replaceChildren();
  }
}

function canvasLayer(name: string): CanvasRenderingContext2D {
  const canvas = document.createElement("canvas");
  canvas.className = name;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser has no canvas.");
  return context;
}
