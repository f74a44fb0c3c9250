// The links panel: every link in force, those that look wrong first.

import type { Action, Link } from "../protocol";
import type { Store } from "../store";
import { KeyedList, make, makeButton, setText, spellCount, type Entry } from "./element";
import type { ShowOnMap } from "./groups";
import { drawLink, isRemovable, makeTime, relation, SOURCE_WORDS, spellLink, spellTime } from "./link-words";
import { perform } from "./perform";

const PAGE = 100;

interface Filter {
  text: string;
  kind: string;
  source: string;
}

interface ListedLink extends Link {
  /** Whether both rows have a group, without which a link is neither kept nor broken. */
  isPlaced: boolean;
}

function isBroken(link: ListedLink): boolean {
  return link.isPlaced && !link.kept;
}

/** Whether a link is more likely wrong than right, as estimated from the others. */
function isSuspect(link: Link): boolean {
  return link.suspicion !== null && link.suspicion > 0.5;
}

function matches(link: ListedLink, filter: Filter): boolean {
  if (filter.kind === "same" && !link.together) return false;
  if (filter.kind === "different" && link.together) return false;
  if (filter.kind === "suspect" && !isSuspect(link)) return false;
  if (filter.kind === "broken" && !isBroken(link)) return false;
  if (filter.source !== "" && link.source !== filter.source) return false;
  const text = filter.text.trim().toLowerCase();
  return text === "" || link.a_name.toLowerCase().includes(text) || link.b_name.toLowerCase().includes(text);
}

/** Suspects first, the most suspicious on top; then broken links; the order of the server otherwise. */
function sortLinks(links: readonly ListedLink[]): ListedLink[] {
  const rank = (link: ListedLink): number => (isSuspect(link) ? 2 + link.suspicion! : isBroken(link) ? 1 : 0);
  return [...links].sort((a, b) => rank(b) - rank(a));
}

/** Why a link is at the top of the list. */
export function reason(link: Link): string {
  if (!isSuspect(link)) return "";
  const against = link.together ? "the rows are unlike each other" : "the rows are much alike";
  return `May be wrong (${Math.round(100 * link.suspicion!)}%): judged by the other links, ${against}.`;
}

function spellKept(link: ListedLink): string {
  if (!link.isPlaced) return "no group yet";
  return link.kept ? "\u2713 kept" : "\u2717 broken";
}

function makeLink(store: Store, showOnMap: ShowOnMap, first: ListedLink): Entry<ListedLink> {
  let link = first;
  let drawn = "";
  const names = make("div", { class: "ml-link-names" });
  const tags = make("div", { class: "ml-link-tags" });
  const why = make("p", { class: "ml-link-why" });
  const remove = makeButton({ class: "ml-button small", onclick: removeLink }, "Delete");
  const map = makeButton({ class: "ml-button small", onclick: () => showOnMap([link.a, link.b]) }, "Show on map");
  const element = make(
    "li",
    { class: "ml-link" },
    names,
    why,
    make("div", { class: "ml-link-foot" }, tags, make("div", { class: "ml-link-actions" }, map, remove)),
  );

  function removeLink(): void {
    const { a, b, source } = link;
    const action: Action = source === "pin" ? { do: "unpin", rows: [a, b] } : { do: "unlink", a, b };
    perform(store, action);
  }

  function update(next: ListedLink): void {
    link = next;
    // A long list is updated after every action, and few of its links change.
    const wanted = JSON.stringify(next);
    if (wanted === drawn) return;
    drawn = wanted;
    names.replaceChildren(
      make("span", {}, next.a_name),
      drawLink(next.together),
      make("span", { class: "ml-unseen" }, ` ${relation(next)} `),
      make("span", {}, next.b_name),
    );
    tags.replaceChildren(
      make("span", { class: "ml-tag" }, next.together ? "same" : "different"),
      make("span", { class: "ml-tag" }, SOURCE_WORDS[next.source]),
      make("span", { class: isBroken(next) ? "ml-tag danger" : "ml-tag" }, spellKept(next)),
    );
    if (next.when !== null) tags.append(makeTime(next.when));
    tags.title = spellTime(next.when);
    setText(why, reason(next));
    why.hidden = !isSuspect(next);
    element.classList.toggle("suspect", isSuspect(next));
    setText(remove, next.source === "pin" ? "Unpin both" : "Delete");
    // Two places are kept apart by a link between two of their rows: without these, other rows would get it.
    remove.hidden = !isRemovable(next) && !(next.source === "pin" && next.together);
    remove.setAttribute("aria-label", `${remove.textContent} ${spellLink(next)}`);
    map.setAttribute("aria-label", `Show on map ${spellLink(next)}`);
  }

  return { element, update };
}

function makeSelect(label: string, options: [string, string][], onchange: () => void): HTMLSelectElement {
  return make(
    "select",
    { class: "ml-input", "aria-label": label, onchange },
    ...options.map(([value, text]) => make("option", { value }, text)),
  );
}

export function makeLinksPanel(store: Store, showOnMap: ShowOnMap): HTMLElement {
  let nShown = PAGE;
  const text = make("input", {
    class: "ml-input",
    type: "search",
    placeholder: "Find a row",
    "aria-label": "Filter links by row",
    oninput: refilter,
  });
  const kind = makeSelect(
    "Kind of link",
    [
      ["", "All kinds"],
      ["same", "Same"],
      ["different", "Different"],
      ["suspect", "May be wrong"],
      ["broken", "Broken"],
    ],
    refilter,
  );
  const source = makeSelect(
    "Source of link",
    [["", "All sources"], ...Object.entries(SOURCE_WORDS)],
    refilter,
  );
  const about = make("p", { class: "ml-fine", role: "status" });
  const list = make("ul", { class: "ml-link-list", "aria-label": "Links" });
  const more = makeButton({ class: "ml-button", onclick: showMore }, "Show more");
  const entries = new KeyedList<ListedLink>(
    list,
    (link) => `${link.a} ${link.b} ${link.together} ${link.source}`,
    (link) => makeLink(store, showOnMap, link),
  );

  function refilter(): void {
    nShown = PAGE;
    show();
  }

  function showMore(): void {
    nShown += PAGE;
    show();
  }

  function describe(nFound: number): string {
    const state = store.state;
    if (!state || state.n_links === 0) return "There are no links yet. Answer questions, or draw a link on the map.";
    const all = spellCount(state.n_links, "link");
    const nSuspect = state.links.filter(isSuspect).length;
    const suspects = nSuspect ? `, ${nSuspect} may be wrong` : "";
    const listed = state.links.length < state.n_links ? `, the first ${state.links.length.toLocaleString("en-US")} are listed` : "";
    const found = nFound < state.links.length ? `${nFound.toLocaleString("en-US")} found of ${all}` : all;
    return `${found}${suspects}${listed}.`;
  }

  function show(): void {
    const filter = { text: text.value, kind: kind.value, source: source.value };
    const links = (store.state?.links ?? []).map((link) => ({
      ...link,
      isPlaced: store.groupOf(link.a) !== null && store.groupOf(link.b) !== null,
    }));
    const found = sortLinks(links.filter((link) => matches(link, filter)));
    setText(about, describe(found.length));
    entries.update(found.slice(0, nShown));
    more.hidden = found.length <= nShown;
  }

  store.subscribe(["state", "labels"], show);
  show();
  return make(
    "div",
    { class: "ml-panel" },
    make("div", { class: "ml-filters" }, text, kind, source),
    about,
    list,
    more,
  );
}
