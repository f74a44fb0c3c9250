// Two rows side by side, the columns marked in which they differ most.

import type { ColumnKind, Comparison } from "../protocol";
import { make } from "./element";

/** Asks for the picture of a cell; resolves with a data: address. */
export type LoadImage = (row: number, column: string) => Promise<string>;

const DIFFERS = "\u2260";

function makeImage(row: number, rowName: string, column: string, load: LoadImage): HTMLElement {
  const place = make("span", { class: "ml-fine" }, "Loading the image\u2026");
  load(row, column).then(
    (url) => place.replaceWith(make("img", { src: url, alt: `${column} of ${rowName}`, class: "ml-cell-image" })),
    (error: unknown) => {
      place.textContent = error instanceof Error ? error.message : String(error);
    },
  );
  return place;
}

function makeCell(text: string, kind: ColumnKind, image: () => HTMLElement): HTMLElement {
  if (kind === "image" && text !== "") return make("td", { role: "cell", class: "image" }, image());
  if (text === "") return make("td", { role: "cell", class: "empty" }, "(empty)");
  return make("td", { role: "cell", class: kind }, text);
}

/** A name that may be broken after its underscores, dots and slashes, where there is little room. */
function makeBreakable(name: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const part of name.split(/(?<=[_./-])/)) fragment.append(part, document.createElement("wbr"));
  return fragment;
}

// The roles are spelled out, since tables that are laid out as grids lose them.
export function makeComparison(rows: Comparison, load: LoadImage): HTMLTableElement {
  const head = make(
    "tr",
    { role: "row" },
    make("th", { role: "columnheader", scope: "col" }, make("span", { class: "ml-unseen" }, "Column")),
    make("th", { role: "columnheader", scope: "col" }, rows.a_name),
    make("th", { role: "columnheader", scope: "col" }, rows.b_name),
  );
  const body = rows.columns.map((column) => {
    const isWide = column.kind === "text" || column.kind === "image";
    return make(
      "tr",
      { role: "row", class: `${isWide ? "wide" : ""} ${column.marked ? "marked" : ""}`.trim() },
      make(
        "th",
        { role: "rowheader", scope: "row" },
        column.marked && make("span", { class: "ml-differs", "aria-hidden": "true", title: "differs most" }, DIFFERS),
        makeBreakable(column.name),
        column.marked && make("span", { class: "ml-unseen" }, ", differs most"),
      ),
      makeCell(column.first, column.kind, () => makeImage(rows.a, rows.a_name, column.name, load)),
      makeCell(column.second, column.kind, () => makeImage(rows.b, rows.b_name, column.name, load)),
    );
  });
  return make(
    "table",
    { role: "table", class: "ml-comparison", "aria-label": `${rows.a_name} beside ${rows.b_name}` },
    make("thead", { role: "rowgroup" }, head),
    make("tbody", { role: "rowgroup" }, ...body),
  );
}
