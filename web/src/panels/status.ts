// The status line: which clusterer is shown, what changed, and whether something is being computed.

import type { Shown, State } from "../protocol";
import type { Store } from "../store";
import { make, setText, spellCount } from "./element";

const STATUS_WORDS: Record<Shown["status"], string> = {
  instant: "instant result",
  final: "final result",
  working: "computing the final result\u2026",
  failed: "no final result",
};

/** Milliseconds after which a step without an answer is spoken of. */
const SLOW = 1_500;
const FIRST = "Computing the first groups\u2026 You can answer questions meanwhile.";
const WORKING = "Working on your last step\u2026 A first step of its kind takes longest, up to half a minute.";

/** The sentence about the shown labels: by which clusterer, and what changed. */
export function describeShown({ shown, groups }: Pick<State, "shown" | "groups">): string {
  const { method, title, n_changed, status } = shown;
  if (groups.length === 0 && status === "working") return FIRST;
  const changed = n_changed ? `${spellCount(n_changed, "row")} changed group` : "no row changed group";
  const text = shown.text || `${title}: ${changed}.`;
  // The first groups change every row, which says nothing; how many there are does.
  const isFirst = n_changed > 0 && n_changed >= groups.reduce((sum, { size }) => sum + size, 0);
  const sentence = isFirst ? text.replace(/[;:] [\d,]+ rows? changed( group)?/, `: ${spellCount(groups.length, "group")}`) : text;
  // The engine names methods as the command does; the page by their titles.
  return sentence.replace(`by ${method}`, `by ${title}`);
}

export function mountStatus(place: HTMLElement, store: Store): void {
  const spinner = make("span", { class: "ml-spinner", "aria-hidden": "true" });
  const text = make("span", { class: "ml-status-text" });
  const state = make("span", { class: "ml-tag" });
  place.setAttribute("aria-live", "polite");
  place.append(spinner, text, state);

  let isSlow = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Say so when a step takes long: without an answer it would look as if nothing happened. */
  function watchBusy(): void {
    if (store.busy === 0) {
      clearTimeout(timer);
      timer = undefined;
      isSlow = false;
    } else {
      timer ??= setTimeout(() => {
        isSlow = true;
        show();
      }, SLOW);
    }
    show();
  }

  function show(): void {
    const shown = store.state?.shown;
    setText(text, store.notice || (isSlow ? WORKING : store.state ? describeShown(store.state) : "Loading\u2026"));
    place.classList.toggle("warning", store.notice !== "");
    setText(state, shown ? STATUS_WORDS[shown.status] : "");
    const isOpen = store.status === "open";
    state.hidden = !shown || !isOpen;
    spinner.hidden = !isOpen || (store.busy === 0 && shown?.status !== "working" && store.awaitedView === null);
  }

  store.subscribe(["state", "notice", "view", "hello", "connection"], show);
  store.subscribe("busy", watchBusy);
  show();
}
