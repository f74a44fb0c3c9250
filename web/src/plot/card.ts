// The card beside a row that the pointer or the cursor is on. Cells are text, never HTML.

import type { Row } from "../protocol";
import type { Store } from "../store";
import { groupColor, groupShape, shapePath } from "./palette";
import { isDark } from "./theme";

const DELAY = 120;
const MAX_CELLS = 8;
const MAX_CHARACTERS = 160;
const SVG = "http://www.w3.org/2000/svg";

export class Card {
  private readonly element = document.createElement("div");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private row: number | null = null;

  constructor(
    private readonly parent: HTMLElement,
    private readonly store: Store,
    private readonly root: HTMLElement,
  ) {
    this.element.className = "ml-card";
    this.element.setAttribute("role", "tooltip");
    this.element.hidden = true;
    parent.append(this.element);
  }

  /** Show a row once the pointer rests on it. */
  showSoon(row: number, x: number, y: number): void {
    if (row === this.row) return;
    this.hide();
    this.row = row;
    this.timer = setTimeout(() => void this.show(row, x, y), DELAY);
  }

  /** Show a row now; resolves with it when its cells are here. */
  async show(row: number, x: number, y: number): Promise<Row | null> {
    clearTimeout(this.timer);
    this.row = row;
    try {
      const answer = await this.store.row(row);
      if (this.row !== row) return null;
      this.fill(answer);
      this.place(x, y);
      return answer;
    } catch {
      // The status line tells of a lost connection.
      return null;
    }
  }

  private fill(row: Row): void {
    const head = document.createElement("div");
    head.className = "ml-card-head";
    const name = document.createElement("strong");
    name.textContent = row.name;
    head.append(name, this.groupMark(this.store.groupOf(row.row)));
    if (row.pinned) head.append(textSpan("pinned", "ml-card-pinned"));
    const list = document.createElement("dl");
    for (const cell of row.cells.filter((other) => other.kind !== "image").slice(0, MAX_CELLS)) {
      const [term, value] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = cell.column;
      value.textContent = cell.text.length > MAX_CHARACTERS ? `${cell.text.slice(0, MAX_CHARACTERS)}\u2026` : cell.text;
      list.append(term, value);
    }
    this.element.replaceChildren(head, list);
    if (row.cells.length > MAX_CELLS) this.element.append(textSpan(`and ${row.cells.length - MAX_CELLS} more columns`, "ml-card-more"));
  }

  private groupMark(group: number | null): HTMLElement {
    const mark = document.createElement("span");
    mark.className = "ml-card-group";
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "-1.5 -1.5 3 3");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", shapePath(groupShape(group)));
    path.setAttribute("fill", groupColor(group, isDark(this.root)));
    svg.append(path);
    const name = this.store.state?.groups.find((other) => other.id === group)?.name ?? "no group";
    mark.append(svg, name);
    return mark;
  }

  private place(x: number, y: number): void {
    const { element, parent } = this;
    element.hidden = false;
    const [width, height] = [element.offsetWidth, element.offsetHeight];
    const left = x + 18 + width > parent.clientWidth ? x - 18 - width : x + 18;
    const top = y + 14 + height > parent.clientHeight ? y - 14 - height : y + 14;
    element.style.left = `${Math.max(4, left)}px`;
    element.style.top = `${Math.max(4, top)}px`;
  }

  hide(): void {
    clearTimeout(this.timer);
    this.row = null;
    this.element.hidden = true;
  }

  destroy(): void {
    this.hide();
    this.element.remove();
  }
}

function textSpan(text: string, name: string): HTMLElement {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
}
