// The map of the rows.

import type { Store } from "../store";

export interface Plot {
  /** Page pixels of a row, null if it is not drawn. */
  screenPosition(row: number): { x: number; y: number } | null;
  /** Row drawn nearest to a place of the page, null if there is none near. */
  nearest(x: number, y: number): number | null;
  /** When the points were last drawn with new colors (`performance.now()`). */
  readonly drawnAt: number;
  /** Show all rows. */
  fit(): void;
  /** Show these rows in the middle. */
  focus(rows: readonly number[]): void;
  destroy(): void;
}

export function mountPlot(element: HTMLElement, store: Store, _root: HTMLElement): Plot {
  element.setAttribute("role", "application");
  element.setAttribute("aria-label", "Map of the rows");
  void store;
  return {
    screenPosition: () => null,
    nearest: () => null,
    drawnAt: 0,
    fit() {},
    focus() {},
    destroy() {
      element.replaceChildren();
    },
  };
}
