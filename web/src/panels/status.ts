// The status line: which clusterer is shown, what changed, and whether something is being computed.

import type { Shown } from "../protocol";
import type { Store } from "../store";
import { make, setText, spellCount } from "./element";

const STATUS_WORDS: Record<Shown["status"], string> = {
  instant: "instant result",
  final: "final result",
  working: "computing the final result\u2026",
};

/** The sentence about the shown labels: by which clusterer, and what changed. */
export function describeShown({ method, title, n_changed, text }: Shown): string {
  const changed = n_changed ? `${spellCount(n_changed, "row")} changed group` : "no row changed group";
  // The engine names methods as the command does; the page by their titles.
  const sentence = (text || changed).replace(`by ${method}`, `by ${title}`);
  return sentence.includes(title) ? sentence : `${title}: ${sentence}`;
}

export function mountStatus(place: HTMLElement, store: Store): void {
  const spinner = make("span", { class: "ml-spinner", "aria-hidden": "true" });
  const text = make("span", { class: "ml-status-text" });
  const state = make("span", { class: "ml-tag" });
  place.setAttribute("aria-live", "polite");
  place.append(spinner, text, state);

  function show(): void {
    const shown = store.state?.shown;
    setText(text, store.notice || (shown ? describeShown(shown) : "Loading\u2026"));
    place.classList.toggle("warning", store.notice !== "");
    setText(state, shown ? STATUS_WORDS[shown.status] : "");
    const isOpen = store.status === "open";
    state.hidden = !shown || !isOpen;
    spinner.hidden = !isOpen || (store.busy === 0 && shown?.status !== "working" && store.awaitedView === null);
  }

  store.subscribe(["state", "notice", "busy", "view", "hello", "connection"], show);
  show();
}
