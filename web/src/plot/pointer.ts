// Mouse, pen and fingers: pan, zoom, select, lasso, drag rows, draw links.

import type { Card } from "./card";
import { carry, drop, link } from "./row-actions";
import { rowsInPolygon } from "./grid";
import type { MapView } from "./map";

const CLICK_REACH = 4;
const MOUSE_REACH = 5;
const TOUCH_REACH = 16;
/** With more rows in view, only selected ones can be dragged: every place is on some row, and most drags mean a pan. */
export const MAX_FREE_DRAG = 3_000;

type Gesture = "undecided" | "pan" | "lasso" | "drag" | "link" | "pinch" | "done";

interface Press {
  gesture: Gesture;
  startX: number;
  startY: number;
  x: number;
  y: number;
  row: number | null;
  isTouch: boolean;
  isAdding: boolean;
}

export class Pointers {
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private press: Press | null = null;
  /** First row of a link that is drawn by two clicks. */
  private linkFrom: number | null = null;
  private readonly ends = new AbortController();

  constructor(
    private readonly map: MapView,
    private readonly card: Card,
  ) {
    const { surface } = map;
    const { signal } = this.ends;
    surface.addEventListener("pointerdown", (event) => this.down(event), { signal });
    surface.addEventListener("pointermove", (event) => this.move(event), { signal });
    surface.addEventListener("pointerup", (event) => this.up(event), { signal });
    surface.addEventListener("pointercancel", (event) => this.lose(event), { signal });
    surface.addEventListener("pointerleave", () => this.leave(), { signal });
    surface.addEventListener("wheel", (event) => this.wheel(event), { signal, passive: false });
    surface.addEventListener("dblclick", (event) => this.doubleClick(event), { signal });
    surface.addEventListener("contextmenu", (event) => this.press && event.preventDefault(), { signal });
    const stop = map.store.subscribe("mode", () => this.cancel());
    signal.addEventListener("abort", stop);
  }

  private at(event: MouseEvent): { x: number; y: number } {
    const box = this.map.surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private rowAt(x: number, y: number, isTouch: boolean): number | null {
    return this.map.rowAt(x, y, this.map.radius + (isTouch ? TOUCH_REACH : MOUSE_REACH));
  }

  // ---- presses ----

  private down(event: PointerEvent): void {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    const { x, y } = this.at(event);
    this.map.element.focus({ preventScroll: true });
    this.map.element.classList.remove("ml-by-key");
    this.map.surface.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x, y });
    this.card.hide();
    if (this.fingers.size > 1) {
      this.stopGesture();
      this.press = this.newPress(event, x, y, "pinch");
      return;
    }
    this.press = this.newPress(event, x, y, "undecided");
  }

  private newPress(event: PointerEvent, x: number, y: number, gesture: Gesture): Press {
    const isTouch = event.pointerType === "touch";
    const row = gesture === "pinch" ? null : this.rowAt(x, y, isTouch);
    const isAdding = event.shiftKey || event.ctrlKey || event.metaKey;
    return { gesture, startX: x, startY: y, x, y, row, isTouch, isAdding };
  }

  private move(event: PointerEvent): void {
    const { x, y } = this.at(event);
    const { press } = this;
    if (!press) {
      this.hover(event, x, y);
      return;
    }
    if (press.gesture === "pinch") {
      this.pinch(event, x, y);
      return;
    }
    if (press.gesture === "undecided") {
      if (Math.hypot(x - press.startX, y - press.startY) <= CLICK_REACH) return;
      press.gesture = this.decide(press);
      if (press.gesture === "lasso") this.startLasso(press);
    }
    this.go(press, x, y);
    press.x = x;
    press.y = y;
  }

  private startLasso({ startX, startY }: Press): void {
    const { x, y } = this.map.camera.toWorld(startX, startY);
    this.map.lasso = [x, y];
  }

  /** What a press that moves is meant to be. */
  private decide(press: Press): Gesture {
    const { store } = this.map;
    const isSelected = press.row !== null && store.selection.includes(press.row);
    if (store.mode === "same" || store.mode === "different") return press.row === null ? "pan" : "link";
    if (isSelected && !press.isAdding) return "drag";
    if (store.mode === "lasso" || press.isAdding) return "lasso";
    if (press.row !== null && !press.isTouch && !this.map.isDense(MAX_FREE_DRAG)) return "drag";
    return "pan";
  }

  private go(press: Press, x: number, y: number): void {
    const { map } = this;
    const world = map.camera.toWorld(x, y);
    switch (press.gesture) {
      case "pan":
        map.surface.classList.add("ml-panning");
        map.moveCamera((camera) => camera.panBy(x - press.x, y - press.y));
        break;
      case "lasso":
        map.lasso?.push(world.x, world.y);
        map.redraw();
        break;
      case "drag": {
        const { selection } = map.store;
        carry(map, selection.includes(press.row!) ? selection : [press.row!], world.x, world.y);
        break;
      }
      case "link":
        this.drawLine(press.row!, x, y, press.isTouch);
        break;
      default:
        break;
    }
  }

  private drawLine(from: number, x: number, y: number, isTouch: boolean): void {
    const { map } = this;
    const to = this.rowAt(x, y, isTouch);
    const world = map.camera.toWorld(x, y);
    map.line = { from, ...world, to: to === from ? null : to, together: map.store.mode === "same" };
    map.redraw();
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    const { press, map } = this;
    if (!press) return;
    if (press.gesture === "pinch") {
      if (this.fingers.size === 0) this.press = null;
      return;
    }
    this.press = null;
    const { line, lasso } = map;
    if (press.gesture === "undecided") this.click(press);
    else if (press.gesture === "drag") void drop(map);
    else if (press.gesture === "lasso" && lasso) this.endLasso(lasso, press.isAdding);
    else if (press.gesture === "link" && line?.to != null) link(map, line.from, line.to, line.together);
    this.stopGesture();
  }

  private endLasso(lasso: number[], isAdding: boolean): void {
    const { store, drawn } = this.map;
    const rows = rowsInPolygon(drawn.grid, drawn.positions, lasso);
    // Shift starts a lasso in mode "Pan"; only with a selection it adds to it.
    store.select(isAdding ? [...new Set([...store.selection, ...rows])] : rows);
  }

  private click({ row, isAdding }: Press): void {
    const { store } = this.map;
    if (store.mode === "same" || store.mode === "different") {
      this.chooseLinked(row);
      return;
    }
    if (row === null) store.select(isAdding ? store.selection : []);
    else if (!isAdding) store.select([row]);
    else if (store.selection.includes(row)) store.select(store.selection.filter((other) => other !== row));
    else store.select([...store.selection, row]);
  }

  /** Take a row as the first or second one of a link; no row, or the first one again, gives the link up. */
  chooseLinked(row: number | null): "first" | "linked" | "none" {
    const { store } = this.map;
    const from = this.linkFrom;
    if (row === null || from === null || row === from) {
      this.linkFrom = row === from ? null : row;
      store.select(this.linkFrom === null ? [] : [this.linkFrom]);
      return this.linkFrom === null ? "none" : "first";
    }
    this.linkFrom = null;
    store.select([]);
    link(this.map, from, row, store.mode === "same");
    return "linked";
  }

  // ---- the rest ----

  private pinch(event: PointerEvent, x: number, y: number): void {
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    const before = this.fingers.get(event.pointerId);
    this.fingers.set(event.pointerId, { x, y });
    if (!other || !before) return;
    const [wide, narrow] = [Math.hypot(x - other.x, y - other.y), Math.hypot(before.x - other.x, before.y - other.y)];
    this.map.moveCamera((camera) => {
      camera.panBy((x - before.x) / 2, (y - before.y) / 2);
      camera.zoomAt((x + other.x) / 2, (y + other.y) / 2, wide / Math.max(narrow, 1));
    });
  }

  private hover(event: PointerEvent, x: number, y: number): void {
    if (event.pointerType === "touch" || this.map.drawn.isMoving) return;
    const row = this.rowAt(x, y, false);
    const { store, surface } = this.map;
    surface.classList.toggle("ml-on-row", row !== null);
    store.hover(row);
    if (row === null) this.card.hide();
    else this.card.showSoon(row, x, y);
    if (this.linkFrom !== null) this.drawLine(this.linkFrom, x, y, false);
  }

  private leave(): void {
    if (this.press) return;
    this.map.store.hover(null);
    this.card.hide();
  }

  private wheel(event: WheelEvent): void {
    // In a notebook, a page that scrolls past must not zoom.
    if (this.map.element.closest(".ml-in-notebook") && !event.ctrlKey && !this.map.element.contains(document.activeElement)) return;
    event.preventDefault();
    this.card.hide();
    const { x, y } = this.at(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.map.moveCamera((camera) => camera.zoomAt(x, y, Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016))));
  }

  private doubleClick(event: MouseEvent): void {
    const { x, y } = this.at(event);
    if (this.rowAt(x, y, false) === null) this.map.fit();
  }

  private lose(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.press = null;
    this.stopGesture();
  }

  private stopGesture(): void {
    const { map } = this;
    map.surface.classList.remove("ml-panning");
    map.lasso = null;
    map.line = null;
    map.ghost = null;
    map.redraw();
  }

  /** Give up what is being done; true if there was something. */
  cancel(): boolean {
    const was = this.linkFrom !== null || (this.press !== null && this.press.gesture !== "pan");
    this.linkFrom = null;
    if (this.press) this.press.gesture = "done";
    this.stopGesture();
    return was;
  }

  destroy(): void {
    this.ends.abort();
  }
}
