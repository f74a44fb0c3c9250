// The question card: two rows, same or different or unsure.

import type { Comparison } from "../protocol";
import type { Store } from "../store";
import { makeComparison } from "./comparison";
import { focusedElement, make, makeButton, nameWithKey, setText, spellCount, uniqueId } from "./element";
import type { ShowOnMap } from "./groups";
import { drawLink } from "./link-words";
import { perform } from "./perform";

const ASKED = "Do these two rows belong to the same group?";
const NEXT = "Choosing the next question\u2026";

export interface QuestionCard {
  /** Answer the question that is shown; nothing happens while there is none or an answer is on its way. */
  answer(together: boolean | null): void;
  showOnMap(): void;
}

/** The question in one sentence: both rows, and the columns that are marked. */
export function speak(question: Comparison): string {
  const marked = question.columns.filter((column) => column.marked && column.kind !== "image");
  const differences = marked.map(({ name, first, second }) => `${name}: ${first || "empty"}, ${second || "empty"}`);
  const number = question.number === undefined ? "" : ` ${question.number}`;
  return `Question${number}: ${question.a_name} and ${question.b_name}. ${differences.join("; ")}`.trim();
}

export function mountQuestion(place: HTMLElement, store: Store, show: ShowOnMap): QuestionCard {
  const heading = make("h2", { class: "ml-question-title", tabindex: -1 }, "Question");
  const map = makeButton({ class: "ml-button small", title: "Select both rows on the map (f)", onclick: showOnMap }, "Show on map");
  const asked = make("p", { class: "ml-asked" }, ASKED);
  const rows = make("div", { class: "ml-question-rows", tabindex: 0, role: "group", "aria-label": "The two rows" });
  const more = make("p", { class: "ml-fine" });
  const end = make("p", { class: "ml-question-end" });
  const buttons = [
    makeButton({ class: "ml-button same", onclick: () => answer(true) }, drawLink(true), nameWithKey("Same", "s")),
    makeButton({ class: "ml-button different", onclick: () => answer(false) }, drawLink(false), nameWithKey("Different", "d")),
    makeButton({ class: "ml-button", onclick: () => answer(null) }, nameWithKey("Unsure", "u")),
  ];
  const actions = make("div", { class: "ml-question-actions" }, ...buttons);
  const advice = make("p", { class: "ml-advice", role: "note" });
  const counts = make("span", { class: "ml-fine", title: "Answers and drawn links" });
  const strategy = make("select", { class: "ml-input small", id: uniqueId("strategy"), onchange: choose });
  const footer = make(
    "div",
    { class: "ml-question-footer" },
    counts,
    make("label", { class: "ml-field", for: strategy.id }, "Ask by", strategy),
  );
  // Reads a new question out to those who answer by key and do not see it change.
  const spoken = make("p", { class: "ml-unseen", "aria-live": "polite" });
  const head = make("div", { class: "ml-question-head" }, heading, map);
  place.append(head, asked, rows, more, end, actions, advice, footer, spoken);
  // The question that is answered, until another one comes.
  let answered: Comparison | null = null;

  function answer(together: boolean | null): void {
    const question = store.question?.question;
    if (!question || isAnswered(question)) return;
    answered = question;
    showBusy();
    perform(store, { do: "answer", a: question.a, b: question.b, together }, () => {
      if (answered === question) answered = null;
      showBusy();
    });
  }

  /** Whether it is the answered one, which the server may send again before it has chosen the next. */
  function isAnswered({ a, b, number }: Comparison): boolean {
    return answered !== null && answered.a === a && answered.b === b && answered.number === number;
  }

  /** After undo, the answered question is open again. */
  function reopen(): void {
    if (store.busy === 0 && store.state?.can_redo) answered = null;
  }

  function showOnMap(): void {
    const question = store.question?.question;
    if (question) show([question.a, question.b]);
  }

  function choose(): void {
    perform(store, { do: "choose", strategy: strategy.value }, showState);
  }

  function showBusy(): void {
    const question = store.question?.question;
    const isWaiting = question != null && isAnswered(question);
    for (const button of buttons) button.setAttribute("aria-disabled", String(isWaiting || store.status !== "open"));
    place.setAttribute("aria-busy", String(isWaiting));
    setText(asked, isWaiting ? NEXT : ASKED);
  }

  function showQuestion(): void {
    const message = store.question;
    const question = message?.question ?? null;
    reopen();
    if (!question || !isAnswered(question)) answered = null;
    // The buttons go away when no question is left, and with them the focus.
    if (question === null && actions.contains(focusedElement(place))) heading.focus();
    for (const element of [map, asked, rows, actions]) element.hidden = question === null;
    setText(heading, question?.number === undefined ? "Question" : `Question ${question.number.toLocaleString("en-US")}`);
    setText(end, message === null ? "Choosing a question\u2026" : (message.end ?? NEXT));
    end.hidden = question !== null;
    setText(advice, message?.advice ?? "");
    advice.hidden = !message?.advice;
    more.hidden = !question || question.n_more === 0;
    rows.replaceChildren();
    setText(spoken, question ? speak(question) : (message?.end ?? ""));
    if (question) {
      const load = (row: number, column: string): Promise<string> =>
        store.ask({ do: "image", row, column }).then((image) => image.url);
      rows.append(makeComparison(question, load));
      rows.scrollTop = 0;
      setText(more, `and ${spellCount(question.n_more, "more column")} with smaller differences`);
    }
    showBusy();
  }

  function showState(): void {
    const state = store.state;
    if (!state) return;
    const { together, apart, skipped } = state.counts;
    setText(counts, `${together} same, ${apart} different, ${skipped} unsure`);
    reopen();
    showBusy();
    strategy.value = state.strategy;
  }

  function showStrategies(): void {
    const options = (store.hello?.strategies ?? []).map(({ name, title }) => make("option", { value: name }, title));
    strategy.replaceChildren(...options);
    showState();
  }

  store.subscribe("question", showQuestion);
  store.subscribe("state", showState);
  store.subscribe("hello", showStrategies);
  store.subscribe("connection", showBusy);
  showStrategies();
  showQuestion();
  return { answer, showOnMap };
}
