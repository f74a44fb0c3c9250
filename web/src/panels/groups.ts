// The groups panel: sizes, what sets each group apart, typical rows, names and locks.

import type { Group, Panels } from "../protocol";
import type { Store } from "../store";
import { KeyedList, make, makeButton, setText, spellCount, type Entry } from "./element";
import { perform } from "./perform";
import { drawSymbol, groupVariable } from "./symbol";

/** Selects rows and brings them into view. */
export type ShowOnMap = (rows: readonly number[]) => void;

interface Item {
  group: Group;
  /** Of the last panels message, which may be older than the group. */
  about: Panels["groups"][number] | undefined;
  largest: number;
}

/** Rows of a group, in the order of the table. */
export function rowsOf(store: Store, group: number): number[] {
  const rows: number[] = [];
  store.labels.forEach((label, row) => {
    if (label === group) rows.push(row);
  });
  return rows;
}

function makeName(store: Store, shownGroup: () => Group): HTMLInputElement {
  const input = make("input", {
    class: "ml-group-name",
    maxlength: 80,
    autocomplete: "off",
    spellcheck: "false",
    onkeydown: handleKey,
    onchange: rename,
  });

  function rename(): void {
    const group = shownGroup();
    const name = input.value.trim();
    if (name === "" || name === group.name) reset();
    else perform(store, { do: "rename", group: group.id, name }, reset);
  }

  function reset(): void {
    input.value = shownGroup().name;
  }

  function handleKey(event: KeyboardEvent): void {
    if (event.key === "Enter") input.blur();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    reset();
    input.blur();
  }

  return input;
}

function makeTypical(showOnMap: ShowOnMap, about: Item["about"]): HTMLElement[] {
  return (about?.typical ?? []).map(({ row, name, cells }) =>
    make(
      "li",
      {},
      makeButton(
        { class: "ml-row-name", title: "Show this row on the map", onclick: () => showOnMap([row]) },
        name,
      ),
      make("span", { class: "ml-fine" }, cells.map(([column, text]) => `${column} ${text}`).join(", ")),
    ),
  );
}

function makeGroup(store: Store, showOnMap: ShowOnMap, first: Item): Entry<Item> {
  let item = first;
  const name = makeName(store, () => item.group);
  const symbol = make("span", { class: "ml-group-symbol" });
  const size = make("span", { class: "ml-fine number" });
  const fill = make("span");
  const lock = makeButton({ class: "ml-button small", onclick: toggleLock });
  const select = makeButton({
    class: "ml-button small",
    onclick: () => store.select(rowsOf(store, item.group.id)),
  });
  select.textContent = "Select rows";
  const traits = make("ul", { class: "ml-traits" });
  const typical = make("ul", { class: "ml-typical" });
  const details = make(
    "details",
    { class: "ml-group-details" },
    make("summary", {}, "Typical rows"),
    typical,
  );
  const element = make(
    "li",
    { class: "ml-group" },
    make("div", { class: "ml-group-head" }, symbol, name, size),
    make("div", { class: "ml-bar", "aria-hidden": "true" }, fill),
    traits,
    make("div", { class: "ml-group-foot" }, details, make("div", { class: "ml-group-actions" }, select, lock)),
  );
  let shownAbout: Item["about"];

  function toggleLock(): void {
    perform(store, { do: "lock", group: item.group.id, locked: !item.group.locked });
  }

  function update(next: Item): void {
    item = next;
    const { group, about } = next;
    if (document.activeElement !== name) name.value = group.name;
    name.setAttribute("aria-label", `Name of group ${group.id + 1}`);
    symbol.replaceChildren(drawSymbol(group.id));
    setText(size, spellCount(group.size, "row"));
    fill.style.background = groupVariable(group.id);
    fill.style.width = `${(100 * group.size) / Math.max(next.largest, 1)}%`;
    setText(lock, group.locked ? "Locked" : "Lock");
    lock.setAttribute("aria-pressed", String(group.locked));
    lock.setAttribute("aria-label", `Lock ${group.name}`);
    lock.title = group.locked ? "Its rows stay in it; press to release them" : "Keep its rows in it";
    select.setAttribute("aria-label", `Select rows of ${group.name}`);
    details.hidden = !about?.typical.length;
    if (about === shownAbout) return;
    shownAbout = about;
    traits.replaceChildren(...(about?.traits ?? []).map((trait) => make("li", {}, trait)));
    traits.hidden = !about?.traits.length;
    typical.replaceChildren(...makeTypical(showOnMap, about));
  }

  return { element, update };
}

export function makeGroupsPanel(store: Store, showOnMap: ShowOnMap): HTMLElement {
  const about = make("p", { class: "ml-fine" });
  const list = make("ul", { class: "ml-group-list", "aria-label": "Groups by size" });
  const entries = new KeyedList<Item>(
    list,
    (item) => String(item.group.id),
    (item) => makeGroup(store, showOnMap, item),
  );

  function show(): void {
    const groups = [...(store.state?.groups ?? [])].sort((a, b) => b.size - a.size || a.id - b.id);
    const known = new Map(store.panels?.groups.map((group) => [group.id, group]));
    const largest = groups[0]?.size ?? 0;
    setText(
      about,
      groups.length
        ? `${spellCount(groups.length, "group")} of ${spellCount(store.nRows, "row")}.`
        : store.state?.shown.status === "working"
          ? "The first groups are being computed. Answer questions meanwhile, or drag rows to two places of the map."
          : "There are no groups yet. Answer questions, or drag rows to two places of the map.",
    );
    entries.update(groups.map((group) => ({ group, about: known.get(group.id), largest })));
  }

  store.subscribe(["state", "panels", "hello"], show);
  show();
  return make("div", { class: "ml-panel" }, about, list);
}
