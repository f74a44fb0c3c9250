// Single keys for what is done most often; off while typing, in a dialog, and when the person wants none.

import type { Mode, Store } from "../store";
import { perform } from "./perform";
import type { QuestionCard } from "./question";
import { keep, recall } from "./theme";

export const KEYS: [key: string, what: string][] = [
  ["s", "Answer the question: same group"],
  ["d", "Answer the question: different groups"],
  ["u", "Unsure: ask something else"],
  ["z", "Undo"],
  ["y", "Redo"],
  ["f", "Find both rows of the question on the map"],
  ["1", "Pan"],
  ["2", "Lasso"],
  ["3", "Link same"],
  ["4", "Link different"],
  ["Escape", "Clear the selection, close a dialog"],
  ["?", "This help"],
];

const MODES: Record<string, Mode> = { 1: "pan", 2: "lasso", 3: "same", 4: "different" };
const KEPT = "mustlink-single-keys";
const TYPING = "input:not([type='range']):not([type='checkbox']), textarea, select, [contenteditable]";

export function singleKeys(): boolean {
  return recall(KEPT) !== "off";
}

export function setSingleKeys(on: boolean): void {
  keep(KEPT, on ? "on" : "off");
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TYPING) !== null;
}

interface KeyTargets {
  store: Store;
  question: QuestionCard;
  openHelp(): void;
}

/** Do what a key means; false if it means nothing here. */
function press(key: string, { store, question, openHelp }: KeyTargets): boolean {
  const mode = MODES[key];
  if (mode !== undefined) store.setMode(mode);
  else if (key === "s") question.answer(true);
  else if (key === "d") question.answer(false);
  else if (key === "u") question.answer(null);
  else if (key === "f") question.showOnMap();
  else if (key === "z" && store.state?.can_undo) perform(store, { do: "undo" });
  else if (key === "y" && store.state?.can_redo) perform(store, { do: "redo" });
  else if (key === "?") openHelp();
  else return false;
  return true;
}

/** Keys with Control or Command, as every program has them. */
function pressWithControl(event: KeyboardEvent): string | null {
  if (event.altKey || !(event.ctrlKey || event.metaKey)) return null;
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? "y" : "z";
  return key === "y" ? "y" : null;
}

/**
 * Listen to keys. On a page of its own the whole document listens; inside a notebook only the studio does, and keys
 * that it uses go no further, since the notebook has its own meaning for them.
 */
export function listenToKeys(root: HTMLElement, targets: KeyTargets): () => void {
  const listen = root.classList.contains("ml-in-notebook") ? root : document;
  // JupyterLab takes keys before the studio sees them unless it finds this.
  if (listen === root) root.setAttribute("data-lm-suppress-shortcuts", "true");

  function handle(event: Event): void {
    if (!(event instanceof KeyboardEvent) || event.defaultPrevented || isTyping(event.target)) return;
    if (root.querySelector("[aria-modal='true']") !== null) return;
    const withControl = pressWithControl(event);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === "Escape" && isPlain) {
      targets.store.select([]);
      return;
    }
    if (event.repeat || (withControl === null && (!isPlain || !singleKeys()))) return;
    if (!press(withControl ?? (event.key.length === 1 ? event.key.toLowerCase() : event.key), targets)) return;
    event.preventDefault();
    if (listen === root) event.stopPropagation();
  }

  listen.addEventListener("keydown", handle);
  return () => listen.removeEventListener("keydown", handle);
}
