// The columns panel: how much each column weighs, as learned from the links.

import type { Panels } from "../protocol";
import type { Store } from "../store";
import { KeyedList, make, setText } from "./element";

type Column = Panels["columns"][number];

function makeColumn(): { element: HTMLElement; update(item: Column & { share: number }): void } {
  const name = make("span", { class: "ml-column-name" });
  const value = make("span", { class: "ml-fine number" });
  const fill = make("span");
  const element = make(
    "li",
    { class: "ml-column-row" },
    name,
    make("div", { class: "ml-bar", "aria-hidden": "true" }, fill),
    value,
  );
  return {
    element,
    update(column) {
      setText(name, column.name);
      setText(value, `${Math.round(100 * column.share)}%`);
      fill.style.width = `${100 * column.share}%`;
    },
  };
}

export function makeColumnsPanel(store: Store): HTMLElement {
  const about = make("p", { class: "ml-fine" });
  const list = make("ul", { class: "ml-column-list", "aria-label": "Columns by weight" });
  const rows = new KeyedList<Column & { share: number }>(list, (column) => column.name, makeColumn);

  function show(): void {
    const columns = store.panels?.columns ?? [];
    const largest = Math.max(...columns.map((column) => column.weight), 0);
    setText(
      about,
      largest > 0
        ? "What your links say matters: the weight of each column, as a share of the heaviest one."
        : "After some links, this shows which columns they say matter.",
    );
    const sorted = largest > 0 ? [...columns].sort((a, b) => b.weight - a.weight) : [];
    rows.update(sorted.map((column) => ({ ...column, share: column.weight / largest })));
  }

  store.subscribe("panels", show);
  show();
  return make("div", { class: "ml-panel" }, about, list);
}
