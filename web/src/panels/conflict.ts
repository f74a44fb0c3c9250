// The dialog of a refused action: the chain of links that contradicts it, and what can be done.

import type { Action, Link, LinkSource, Refused } from "../protocol";
import type { Store } from "../store";
import { openDialog, type Dialog } from "./dialog";
import { make, makeButton, uniqueId } from "./element";
import { chainRows, drawLink, relation, SOURCE_WORDS } from "./link-words";
import { perform } from "./perform";

const ARROW = "\u2193";

/** Whether a link of the chain is the one that was refused. */
function isAsked(link: Link, then: Action | null): boolean {
  if (then?.do !== "link" && then?.do !== "answer") return false;
  const isSamePair = (link.a === then.a && link.b === then.b) || (link.a === then.b && link.b === then.a);
  return isSamePair && link.together === then.together;
}

function makeChainLink(link: Link, to: string, source: string, isWeakest: boolean): HTMLElement {
  return make(
    "li",
    { class: isWeakest ? "ml-chain-link weakest" : "ml-chain-link" },
    make("span", { class: "ml-chain-arrow", "aria-hidden": "true" }, ARROW),
    drawLink(link.together),
    make("span", { class: "ml-soft" }, `${relation(link)} `),
    make("strong", {}, to),
    " ",
    make("span", { class: "ml-tag" }, source),
    isWeakest && " ",
    isWeakest && make("span", { class: "ml-tag warning" }, "weakest"),
  );
}

function makeChain(refused: Refused): HTMLElement {
  const rows = chainRows(refused.chain);
  return make(
    "ol",
    { class: "ml-chain", "aria-label": "The links that contradict it" },
    make("li", { class: "ml-chain-link" }, make("strong", {}, rows[0]?.name ?? "")),
    ...refused.chain.map((link, i) => {
      const source = isAsked(link, refused.then) ? "what you asked" : SOURCE_WORDS[link.source];
      return makeChainLink(link, rows[i + 1]?.name ?? "", source, i === refused.weakest);
    }),
  );
}

function spellWeakest(link: Link): string {
  const pair = `${link.a_name} and ${link.b_name} (${SOURCE_WORDS[link.source]})`;
  return link.source === "pin"
    ? `The weakest link: ${pair}. Removing it unpins rows, then does what you asked.`
    : `The weakest link: ${pair}. Removing it deletes it, then does what you asked.`;
}

/** Why nothing can be removed, and what can be done instead. */
function spellStuck(chain: readonly Link[]): string {
  const ways: [LinkSource, string][] = [
    ["lock", "unlock the group"],
    ["pin", "unpin rows or move fewer"],
    ["fixed", "what comes from columns of the table stays"],
  ];
  const said = ways.filter(([source]) => chain.some((link) => link.source === source)).map(([, way]) => way);
  return `None of these links can be removed here${said.length ? `: ${said.join("; ")}` : ""}.`;
}

export function openConflict(root: HTMLElement, store: Store, refused: Refused): Dialog {
  const { then } = refused;
  const weakest = refused.weakest === null ? undefined : refused.chain[refused.weakest];
  const keepButton = makeButton({ class: "ml-button", autofocus: true, onclick: keepIt }, "Keep it as it was");
  const buttons = [keepButton];
  const note = make("p", { class: "ml-fine", id: uniqueId("weakest") });
  if (weakest && then) {
    note.textContent = spellWeakest(weakest);
    const remove = makeButton(
      { class: "ml-button primary", "aria-describedby": note.id, onclick: () => removeWeakest(weakest, then) },
      "Remove the weakest link",
    );
    buttons.unshift(remove);
  } else if (refused.chain.length > 0) note.textContent = spellStuck(refused.chain);

  const dialog = openDialog(root, {
    role: "alertdialog",
    title: refused.chain.length > 0 ? "That contradicts earlier links" : "That cannot be done",
    description: make("p", {}, refused.message),
    body: [refused.chain.length > 0 && makeChain(refused), note],
    buttons,
    onDismiss: () => store.setRefused(null),
  });

  function keepIt(): void {
    dialog.close();
    store.setRefused(null);
  }

  function removeWeakest({ a, b }: Link, then: Action): void {
    dialog.close();
    store.setRefused(null);
    perform(store, { do: "replace", remove: [a, b], then });
  }

  return dialog;
}

/** Open the dialog whenever an action is refused. */
export function watchConflicts(root: HTMLElement, store: Store): void {
  let open: Dialog | null = null;
  store.subscribe("refused", () => {
    open?.close();
    open = store.refused ? openConflict(root, store, store.refused) : null;
  });
}
