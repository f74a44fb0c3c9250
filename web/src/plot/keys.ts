// The map by keyboard: a cursor that walks from row to row.

import type { Card } from "./card";
import { carry, drop, unpin } from "./row-actions";
import type { MapView } from "./map";
import type { Pointers } from "./pointer";

export const KEYS_HELP =
  "Arrow keys move a cursor from row to row; Enter selects the row or takes it out of the selection. " +
  "To link two rows, press 3 for same or 4 for different, then Enter on the one and on the other; 1 ends it. " +
  "m picks up the selected rows, or the row of the cursor: then arrow keys carry them, Shift for small steps, " +
  "Enter drops them and Escape puts them back. p lets go of pins. Plus, minus and 0 zoom in, zoom out and show all rows. " +
  "Escape clears the selection.";

const DIRECTIONS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};
const STEP = 48;
const SMALL_STEP = 8;

export class Keys {
  private readonly ends = new AbortController();
  /** Whether what is carried was picked up by key. */
  private isCarrying = false;

  constructor(
    private readonly map: MapView,
    private readonly card: Card,
    private readonly pointers: Pointers,
    private readonly announce: (text: string) => void,
  ) {
    const { signal } = this.ends;
    // A frame shows where the keys go, but not around a map that was clicked.
    const mark = (): void => map.element.classList.add("ml-by-key");
    map.element.addEventListener("focus", mark, { signal });
    map.element.addEventListener("keydown", mark, { signal });
    map.element.addEventListener("keydown", (event) => this.press(event), { signal });
    map.element.addEventListener("blur", () => this.leave(), { signal });
  }

  private press(event: KeyboardEvent): void {
    if (event.target !== this.map.element || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.handle(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private handle(event: KeyboardEvent): boolean {
    const { map } = this;
    const { store } = map;
    const direction = DIRECTIONS[event.key];
    if (direction) {
      if (this.isCarrying) this.carryBy(direction, event.shiftKey);
      else this.walk(direction);
      return true;
    }
    switch (event.key) {
      case "Enter":
      case " ":
        if (this.isCarrying) this.letGo();
        else if (store.mode === "same" || store.mode === "different") this.link();
        else this.toggle();
        return true;
      case "Escape":
        return this.escape();
      case "m":
        return this.pickUp();
      case "p":
        unpin(map, this.meant());
        return true;
      case "+":
      case "=":
      case "-":
        map.moveCamera((camera) => camera.zoomAt(...this.zoomPlace(), event.key === "-" ? 1 / 1.5 : 1.5), true);
        return true;
      case "0":
        map.fit();
        return true;
      default:
        return false;
    }
  }

  /** The selected rows, or the row of the cursor. */
  private meant(): readonly number[] {
    const { store, cursor } = this.map;
    if (store.selection.length) return store.selection;
    return cursor === null ? [] : [cursor];
  }

  private zoomPlace(): [number, number] {
    const { map } = this;
    if (map.cursor === null) return [map.camera.width / 2, map.camera.height / 2];
    const { x, y } = map.screen(map.cursor);
    return [x, y];
  }

  private walk([dx, dy]: [number, number]): void {
    const { map } = this;
    if (map.drawn.n === 0) return;
    const { camera, drawn } = map;
    if (map.cursor === null) {
      map.cursor = map.store.selection.at(-1) ?? drawn.grid.nearest(camera.x, camera.y, 10);
    } else {
      const next = drawn.grid.toward(map.cursor, dx, dy);
      if (next === null) {
        this.announce("There is no row in this direction.");
        return;
      }
      map.cursor = next;
    }
    if (map.cursor !== null) void this.tell(map.cursor);
  }

  private async tell(row: number): Promise<void> {
    const { map } = this;
    this.keepInView(row);
    map.redraw();
    const { x, y } = map.screen(row);
    const answer = await this.card.show(row, x, y);
    if (!answer) return;
    const group = map.store.state?.groups.find((other) => other.id === map.store.groupOf(row))?.name ?? "no group";
    const cells = answer.cells.slice(0, 3).map((cell) => `${cell.column} ${cell.text.slice(0, 60)}`);
    const state = [map.store.selection.includes(row) ? "selected" : "", answer.pinned ? "pinned" : ""].filter(Boolean);
    this.announce([answer.name, group, ...state, ...cells].join(", "));
  }

  private keepInView(row: number): void {
    const { map } = this;
    const { x, y } = map.screen(row);
    const { width, height } = map.camera;
    const margin = Math.min(60, width / 6, height / 6);
    const over = (value: number, size: number): number => Math.min(0, value - margin) + Math.max(0, value - size + margin);
    const [dx, dy] = [over(x, width), over(y, height)];
    if (dx || dy) map.moveCamera((camera) => camera.panBy(-dx, -dy));
  }

  private toggle(): void {
    const { map } = this;
    const { store, cursor } = map;
    if (cursor === null) return;
    const isSelected = store.selection.includes(cursor);
    store.select(isSelected ? store.selection.filter((row) => row !== cursor) : [...store.selection, cursor]);
    this.announce(`${isSelected ? "Not selected" : "Selected"}; ${store.selection.length} selected in all.`);
  }

  /** The row of the cursor is the first or the second row of a link, as if it were clicked. */
  private link(): void {
    const { cursor, store } = this.map;
    if (cursor === null) return;
    const kind = store.mode === "same" ? "same group" : "different groups";
    const was = this.pointers.chooseLinked(cursor);
    if (was === "first") this.announce(`First row of a link, ${kind}; Enter on the second row draws it.`);
    else this.announce(was === "linked" ? `Linked: ${kind}.` : "The link is given up.");
  }

  private pickUp(): boolean {
    const rows = this.meant();
    if (rows.length === 0) return false;
    const { map } = this;
    const { positions } = map.drawn;
    this.isCarrying = true;
    this.card.hide();
    carry(map, rows, positions[2 * rows[0]!]!, positions[2 * rows[0]! + 1]!);
    this.announce(`Picked up ${rows.length === 1 ? "1 row" : `${rows.length} rows`}. Arrow keys carry, Enter drops, Escape puts back.`);
    return true;
  }

  private carryBy([dx, dy]: [number, number], isSmall: boolean): void {
    const { map } = this;
    if (!map.ghost) return;
    const step = (isSmall ? SMALL_STEP : STEP) / map.camera.scale;
    carry(map, map.ghost.rows, map.ghost.x + dx * step, map.ghost.y + dy * step);
    const { onto } = map.ghost;
    const group = onto && map.store.state?.groups.find((other) => other.id === map.store.groupOf(onto[0]))?.name;
    this.announce(onto ? `Over ${group ?? "a row without a group"}` : "Over an empty place");
  }

  private letGo(): void {
    this.isCarrying = false;
    this.announce("Dropped.");
    void drop(this.map);
  }

  private escape(): boolean {
    const { map } = this;
    if (this.isCarrying) {
      this.isCarrying = false;
      map.ghost = null;
      map.redraw();
      this.announce("Put back.");
      return true;
    }
    if (this.pointers.cancel()) return true;
    if (map.store.selection.length === 0) return false;
    map.store.select([]);
    this.announce("Nothing is selected.");
    return true;
  }

  private leave(): void {
    this.card.hide();
    if (!this.isCarrying) return;
    this.isCarrying = false;
    this.map.ghost = null;
    this.map.redraw();
  }

  destroy(): void {
    this.ends.abort();
  }
}
