// The bar of the selected rows: what a drag does, by keyboard.

import type { Plot } from "../plot";
import type { Action, State } from "../protocol";
import type { Store } from "../store";
import { make, makeButton, setText, spellCount } from "./element";
import { rowsOf } from "./groups";
import { perform } from "./perform";
import { freePlace, meanPlace, placeBeside } from "./placing";

type Move = Extract<Action, { do: "move" }>;

function movable(store: Store, positions: Float32Array): { state: State; rows: number[] } | null {
  const { state, selection } = store;
  if (!state || selection.length === 0 || positions.length !== 2 * store.nRows) return null;
  return { state, rows: [...selection] };
}

/** The move that makes a group of the selected rows, `positions` being where rows are drawn. */
export function moveToNewGroup(store: Store, positions: Float32Array): Move | null {
  const now = movable(store, positions);
  if (!now) return null;
  const { state, rows } = now;
  const moved = new Set(rows);
  const others = state.pins.filter(([row]) => !moved.has(row));
  const place = freePlace(meanPlace(rows, positions), others, state.eps);
  return { do: "move", rows, ...place, onto: null };
}

/** The move that puts the selected rows beside a pin of a group or, without one, beside its most typical row. */
export function moveToGroup(store: Store, positions: Float32Array, group: number): Move | null {
  const now = movable(store, positions);
  if (!now) return null;
  const { state } = now;
  const rows = now.rows.filter((row) => store.groupOf(row) !== group || !state.pins.some(([pin]) => pin === row));
  if (rows.length === 0) return null;
  const moved = new Set(rows);
  const others = state.pins.filter(([row]) => !moved.has(row));
  const pin = others.find(([row]) => store.groupOf(row) === group);
  if (pin) {
    const strangers = others.filter(([row]) => store.groupOf(row) !== group);
    const place = placeBeside({ x: pin[1], y: pin[2] }, [...strangers, pin], state.eps);
    return { do: "move", rows, ...place, onto: null };
  }
  const typical = store.panels?.groups.find(({ id }) => id === group)?.typical.map(({ row }) => row) ?? [];
  const anchor = [...typical, ...rowsOf(store, group)].find((row) => !moved.has(row) && store.groupOf(row) === group);
  if (anchor === undefined) return null;
  const x = positions[2 * anchor]!;
  const y = positions[2 * anchor + 1]!;
  return { do: "move", rows, ...placeBeside({ x, y }, others, state.eps), onto: [anchor, x, y] };
}

export function makeSelectionBar(store: Store, map: HTMLElement, plot: Pick<Plot, "places">): HTMLElement {
  const text = make("strong", { role: "status" });
  const choose = make("select", { class: "ml-input", "aria-label": "Add to group", onchange: addToGroup });
  const unpin = makeButton({ class: "ml-button", onclick: unpinRows }, "Unpin");
  const bar = make(
    "div",
    { class: "ml-selection", role: "region", "aria-label": "Selected rows", hidden: true },
    text,
    makeButton({ class: "ml-button primary", onclick: () => act(moveToNewGroup(store, plot.places)) }, "Make a new group"),
    choose,
    unpin,
    makeButton({ class: "ml-button", title: "Clear the selection (Escape)", onclick: clear }, "Clear"),
  );

  let listed = "";

  function act(action: Action | null): void {
    if (action) perform(store, action);
  }

  function clear(): void {
    store.select([]);
    // The bar is gone; the focus goes where the rows were.
    map.focus({ preventScroll: true });
  }

  function addToGroup(): void {
    const group = Number(choose.value);
    choose.value = "";
    act(moveToGroup(store, plot.places, group));
  }

  function pinned(): number[] {
    const pins = new Set(store.state?.pins.map(([row]) => row));
    return store.selection.filter((row) => pins.has(row));
  }

  function unpinRows(): void {
    const rows = pinned();
    if (rows.length) act({ do: "unpin", rows });
  }

  function showGroups(): void {
    const groups = store.state?.groups ?? [];
    const wanted = JSON.stringify(groups.map(({ id, name }) => [id, name]));
    // Left alone while nothing changes: the person may have the list open.
    if (wanted !== listed) {
      const options = groups.map(({ id, name }) => make("option", { value: id }, name));
      choose.replaceChildren(make("option", { value: "" }, "Add to group\u2026"), ...options);
      choose.disabled = options.length === 0;
      listed = wanted;
    }
    show();
  }

  function show(): void {
    const n = store.selection.length;
    bar.hidden = n === 0;
    setText(text, n ? `${spellCount(n, "row")} selected` : "");
    unpin.disabled = pinned().length === 0;
  }

  store.subscribe("selection", show);
  store.subscribe("state", showGroups);
  showGroups();
  return bar;
}
