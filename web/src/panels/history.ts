// The history panel: what was done, newest first, and named snapshots.

import type { State } from "../protocol";
import type { Store } from "../store";
import { KeyedList, make, makeButton, setText, spellCount, type Entry } from "./element";
import { makeTime } from "./link-words";
import { perform } from "./perform";

type Step = State["history"][number];
type Snapshot = State["snapshots"][number];

function makeStep(step: Step): Entry<Step> {
  const text = make("span", { class: "ml-step-text" });
  const element = make(
    "li",
    { class: "ml-step" },
    make("span", { class: "ml-fine number" }, String(step.n)),
    text,
    makeTime(step.when),
  );
  return { element, update: (next) => setText(text, next.text) };
}

function makeSnapshot(store: Store, { name, when }: Snapshot): Entry<Snapshot> {
  const restore = makeButton(
    {
      class: "ml-button small",
      "aria-label": `Restore ${name}`,
      onclick: () => perform(store, { do: "restore", name }),
    },
    "Restore",
  );
  const element = make(
    "li",
    { class: "ml-step" },
    make("span", { class: "ml-step-text" }, name),
    makeTime(when),
    restore,
  );
  return { element, update: () => undefined };
}

function makeSnapshots(store: Store): HTMLElement {
  const name = make("input", {
    class: "ml-input",
    "aria-label": "Name of the snapshot",
    placeholder: "Name of the snapshot",
    maxlength: 80,
    autocomplete: "off",
    required: true,
    oninput: () => name.setCustomValidity(""),
  });
  const form = make(
    "form",
    { class: "ml-snapshot-form", onsubmit: save },
    name,
    make("button", { type: "submit", class: "ml-button" }, "Save snapshot"),
  );
  const list = make("ul", { class: "ml-steps", "aria-label": "Snapshots" });
  const entries = new KeyedList<Snapshot>(
    list,
    (snapshot) => `${snapshot.name} ${snapshot.when}`,
    (snapshot) => makeSnapshot(store, snapshot),
  );

  function save(event: Event): void {
    event.preventDefault();
    const given = name.value.trim();
    if (given === "") return;
    if (store.state?.snapshots.some((snapshot) => snapshot.name === given)) {
      name.setCustomValidity("There is a snapshot of this name already; choose another name.");
      name.reportValidity();
      return;
    }
    name.value = "";
    perform(store, { do: "snapshot", name: given }, () => {
      name.value = given;
    });
  }

  const show = (): void => entries.update([...(store.state?.snapshots ?? [])].reverse());
  store.subscribe("state", show);
  show();
  return make("div", {}, make("h3", { class: "ml-panel-title" }, "Snapshots"), form, list);
}

export function makeHistoryPanel(store: Store): HTMLElement {
  const about = make("p", { class: "ml-fine" });
  const list = make("ol", { class: "ml-steps", reversed: true, "aria-label": "Steps, newest first" });
  const entries = new KeyedList<Step>(list, (step) => `${step.n} ${step.when}`, makeStep);
  const undo = makeButton({ class: "ml-button small", onclick: () => perform(store, { do: "undo" }) }, "Undo last step");
  const redo = makeButton({ class: "ml-button small", onclick: () => perform(store, { do: "redo" }) }, "Redo step");

  function show(): void {
    const state = store.state;
    const steps = state?.history ?? [];
    // Of a long history the page gets the last steps.
    const isPart = steps.length < (steps.at(-1)?.n ?? 0) ? ` (the last ${steps.length} are listed)` : "";
    setText(
      about,
      steps.length
        ? `${spellCount(steps.at(-1)!.n, "step")}, newest first${isPart}; each was saved when it was done.`
        : "Nothing has been done yet. Every step is saved as it is done.",
    );
    undo.disabled = !state?.can_undo;
    redo.disabled = !state?.can_redo;
    entries.update([...steps].reverse());
  }

  store.subscribe("state", show);
  show();
  return make(
    "div",
    { class: "ml-panel" },
    makeSnapshots(store),
    make("h3", { class: "ml-panel-title" }, "Steps"),
    make("div", { class: "ml-history-actions" }, undo, redo),
    about,
    list,
  );
}
