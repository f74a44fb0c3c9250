// The toolbar: what is shown, how it is computed, what the pointer does, undo and redo.

import type { Choice, ViewName } from "../protocol";
import type { Mode, Store } from "../store";
import { make, makeButton, nameWithKey, setText, uniqueId, type Child } from "./element";
import { drawIcon } from "./icons";
import { drawLink } from "./link-words";
import { perform } from "./perform";

const MODES: [Mode, string, string, () => SVGSVGElement][] = [
  ["pan", "Pan", "Move the map, drag rows (1)", () => drawIcon("pan")],
  ["lasso", "Lasso", "Draw around rows to select them (2)", () => drawIcon("lasso")],
  ["same", "Link same", "Draw a link between rows of the same group (3)", () => drawLink(true)],
  ["different", "Link different", "Draw a link between rows of different groups (4)", () => drawLink(false)],
];

// World units: every view is scaled to the box from -1 to 1.
const MIN_RADIUS = 0.01;
const MAX_RADIUS = 0.4;

function makeField(label: string, control: HTMLElement, ...rest: Child[]): HTMLElement {
  control.id ||= uniqueId("field");
  return make("div", { class: "ml-field" }, make("label", { for: control.id }, label), control, ...rest);
}

/** Choices that cannot be made stay in the list, with the reason. */
function fillSelect(select: HTMLSelectElement, choices: readonly Choice[]): void {
  select.replaceChildren(
    ...choices.map(({ name, title, available, why }) =>
      make(
        "option",
        { value: name, disabled: !available, title: why },
        available || !why ? title : `${title} (${why})`,
      ),
    ),
  );
}

function makeView(store: Store): HTMLElement {
  const select = make("select", {
    class: "ml-input",
    onchange: () => store.show(select.value as ViewName),
  });
  const show = (): void => {
    select.value = store.awaitedView ?? store.view ?? "";
    select.setAttribute("aria-busy", String(store.awaitedView !== null));
  };
  const fill = (): void => {
    fillSelect(select, store.hello?.views ?? []);
    show();
  };
  store.subscribe("hello", fill);
  store.subscribe("view", show);
  fill();
  return makeField("View", select);
}

function makeMethod(store: Store): HTMLElement {
  const select = make("select", { class: "ml-input ml-method", onchange: choose });
  const show = (): void => {
    select.value = store.state?.method ?? "";
  };
  function choose(): void {
    perform(store, { do: "choose", method: select.value }, show);
  }
  const fill = (): void => {
    fillSelect(select, store.hello?.methods ?? []);
    show();
  };
  store.subscribe("hello", fill);
  store.subscribe("state", show);
  fill();
  return makeField("Method", select);
}

function makeNumber(store: Store): HTMLElement {
  const input = make("input", {
    class: "ml-input ml-count",
    type: "number",
    min: 1,
    max: 1000,
    step: 1,
    placeholder: "any",
    title: "Leave it empty to get as many groups as you make",
    onchange: choose,
  });
  const show = (): void => {
    if (document.activeElement !== input) input.value = String(store.state?.n_clusters ?? "");
  };
  function reset(): void {
    input.value = String(store.state?.n_clusters ?? "");
  }
  function choose(): void {
    const number = input.value === "" ? null : Number(input.value);
    if (!input.checkValidity()) reset();
    else if (number !== (store.state?.n_clusters ?? null)) {
      perform(store, { do: "choose", n_clusters: number }, reset);
    }
  }
  store.subscribe("state", show);
  show();
  return makeField("Number of groups", input);
}

function makeRadius(store: Store): HTMLElement {
  const input = make("input", {
    type: "range",
    min: MIN_RADIUS,
    max: MAX_RADIUS,
    step: 0.01,
    title: "Pinned rows nearer than this are in one group",
    oninput: () => setText(value, spell(Number(input.value))),
    onchange: () => perform(store, { do: "choose", eps: Number(input.value) }, show),
  });
  const value = make("output", { class: "ml-radius" });
  value.htmlFor.add((input.id = uniqueId("radius")));
  const spell = (radius: number): string => radius.toFixed(2);
  function show(): void {
    if (!store.state) return;
    input.value = String(store.state.eps);
    setText(value, spell(store.state.eps));
  }
  store.subscribe("state", show);
  show();
  return makeField("Pin radius", input, value);
}

/** The buttons that choose what the pointer does; they lie on the map. */
export function makeModes(store: Store): HTMLElement {
  const buttons = MODES.map(([mode, title, about, draw]) =>
    makeButton(
      { class: "ml-button", title: about, "data-mode": mode, "aria-label": title, onclick: () => store.setMode(mode) },
      draw(),
      make("span", { class: "ml-mode-title" }, title),
    ),
  );
  const show = (): void => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.mode === store.mode));
  };
  store.subscribe("mode", show);
  show();
  return make("div", { class: "ml-modes", role: "group", "aria-label": "What the pointer does" }, ...buttons);
}

function makeHistory(store: Store): HTMLElement {
  const button = (kind: "undo" | "redo", name: HTMLElement): HTMLButtonElement =>
    makeButton({ class: "ml-button", onclick: () => perform(store, { do: kind }) }, drawIcon(kind), name);
  const undo = button("undo", nameWithKey("Undo", "z"));
  const redo = button("redo", nameWithKey("Redo", "y"));
  const show = (): void => {
    undo.disabled = !store.state?.can_undo;
    redo.disabled = !store.state?.can_redo;
    const last = store.state?.history.at(-1);
    undo.title = last ? `Undo: ${last.text}` : "There is nothing to undo";
  };
  store.subscribe("state", show);
  show();
  return make("div", { class: "ml-undo", role: "group", "aria-label": "Undo and redo" }, undo, redo);
}

export interface Toolbar {
  showTheme(theme: "light" | "dark"): void;
}

interface ToolbarOptions {
  toggleTheme(): void;
  openHelp(): void;
}

export function mountToolbar(place: HTMLElement, store: Store, options: ToolbarOptions): Toolbar {
  const title = make("h1", { class: "ml-title" }, "mustlink studio");
  const theme = makeButton({ class: "ml-button icon", onclick: options.toggleTheme });
  const help = makeButton(
    { class: "ml-button icon", "aria-label": "Help and keys", title: "Help and keys (?)", onclick: options.openHelp },
    drawIcon("help"),
  );
  const fields = make(
    "div",
    { class: "ml-fields", id: uniqueId("fields"), role: "group", "aria-label": "Settings" },
    makeView(store),
    makeMethod(store),
    makeNumber(store),
    makeRadius(store),
  );
  // Shown where the screen is narrow, and the fields only when it is pressed.
  const settings = makeButton(
    { class: "ml-button ml-settings", "aria-expanded": "false", "aria-controls": fields.id, onclick: toggleFields },
    "Settings",
  );
  function toggleFields(): void {
    const isOpen = fields.classList.toggle("open");
    settings.setAttribute("aria-expanded", String(isOpen));
  }
  place.append(
    title,
    fields,
    settings,
    makeHistory(store),
    make("div", { class: "ml-toolbar-end" }, theme, help),
  );
  const showTitle = (): void => {
    if (store.hello) setText(title, store.hello.title);
    title.title = store.hello?.file ?? "";
  };
  store.subscribe("hello", showTitle);
  showTitle();
  return {
    showTheme(now) {
      const other = now === "dark" ? "light" : "dark";
      theme.replaceChildren(drawIcon(now === "dark" ? "sun" : "moon"));
      theme.setAttribute("aria-label", `Use the ${other} theme`);
      theme.title = `Use the ${other} theme`;
    },
  };
}
