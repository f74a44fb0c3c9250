// The map of the rows.

import type { Store } from "../store";
import { Card } from "./card";
import { Keys, KEYS_HELP } from "./keys";
import { MapView } from "./map";
import { Pointers } from "./pointer";

const NEAR = 24;

export interface Plot {
  /** Page pixels of a row, null if it is not drawn. */
  screenPosition(row: number): { x: number; y: number } | null;
  /** World positions x0, y0, x1, y1, ... at which rows are drawn, or will be when they have stopped. */
  readonly places: Float32Array;
  /** Row drawn nearest to a place of the page, null if there is none near. */
  nearest(x: number, y: number): number | null;
  /** When the points were last on the screen with new colors (`performance.now()`). */
  readonly drawnAt: number;
  /** What draws the points. */
  readonly layer: "webgl" | "canvas";
  /** Whether rows are on their way to other places. */
  readonly isMoving: boolean;
  /** Show all rows. */
  fit(): void;
  /** Show these rows in the middle. */
  focus(rows: readonly number[]): void;
  destroy(): void;
}

let count = 0;

export function mountPlot(element: HTMLElement, store: Store, root: HTMLElement): Plot {
  const map = new MapView(element, store, root);
  const card = new Card(element, store, root);
  const pointers = new Pointers(map, card);
  const announce = describe(element);
  const keys = new Keys(map, card, pointers, announce);
  addZoomButtons(element, map);
  const stops = [watchMode(element, store), showWaiting(element, store)];
  return {
    screenPosition(row) {
      if (!(row >= 0 && row < map.drawn.n)) return null;
      const box = map.surface.getBoundingClientRect();
      const { x, y } = map.screen(row);
      return { x: box.left + x, y: box.top + y };
    },
    get places() {
      return map.drawn.target;
    },
    nearest(x, y) {
      const box = map.surface.getBoundingClientRect();
      return map.rowAt(x - box.left, y - box.top, NEAR);
    },
    get drawnAt() {
      return map.drawnAt;
    },
    get layer() {
      return map.layer;
    },
    get isMoving() {
      return map.drawn.isMoving;
    },
    fit: () => map.fit(),
    focus: (rows) => map.focus(rows),
    destroy() {
      for (const stop of stops) stop();
      keys.destroy();
      pointers.destroy();
      card.destroy();
      map.destroy();
    },
  };
}

/** Name the element for screen readers; returns a function that says something there. */
function describe(element: HTMLElement): (text: string) => void {
  const help = document.createElement("p");
  help.id = `ml-plot-help-${++count}`;
  help.className = "ml-unseen";
  help.textContent = KEYS_HELP;
  const live = document.createElement("p");
  live.className = "ml-unseen";
  live.setAttribute("aria-live", "polite");
  element.append(help, live);
  element.tabIndex = 0;
  element.setAttribute("role", "application");
  element.setAttribute("aria-label", "Map of the rows");
  element.setAttribute("aria-describedby", help.id);
  return (text) => {
    live.textContent = text;
  };
}

function addZoomButtons(element: HTMLElement, map: MapView): void {
  const box = document.createElement("div");
  box.className = "ml-zoom";
  const add = (sign: string, name: string, fn: () => void): void => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.setAttribute("aria-label", name);
    button.title = name;
    button.addEventListener("click", fn);
    box.append(button);
  };
  const zoom = (factor: number) => () =>
    map.moveCamera((camera) => camera.zoomAt(camera.width / 2, camera.height / 2, factor), true);
  add("+", "Zoom in", zoom(1.6));
  add("\u2212", "Zoom out", zoom(1 / 1.6));
  add("\u2922", "Show all rows", () => map.fit());
  element.append(box);
}

function watchMode(element: HTMLElement, store: Store): () => void {
  const show = (): void => {
    element.dataset["mode"] = store.mode;
  };
  show();
  return store.subscribe("mode", show);
}

/** Say what the map waits for. */
function showWaiting(element: HTMLElement, store: Store): () => void {
  const text = document.createElement("p");
  text.className = "ml-waiting";
  element.append(text);
  const show = (): void => {
    const title = store.hello?.views.find((view) => view.name === store.awaitedView)?.title;
    if (store.view === null) text.textContent = store.status === "open" ? "Waiting for the rows." : "";
    else text.textContent = title ? `Computing: ${title}` : "";
    text.hidden = text.textContent === "";
  };
  show();
  return store.subscribe(["view", "hello", "connection", "positions"], show);
}
