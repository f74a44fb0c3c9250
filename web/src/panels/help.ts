// The help: what can be done, and the list of keys.

import { KEYS_HELP } from "../plot/keys";
import { openDialog } from "./dialog";
import { make, makeButton, uniqueId } from "./element";
import { KEYS, setSingleKeys, singleKeys } from "./keyboard";

const WAYS: [string, string][] = [
  ["Answer questions", "Each answer is a link. The questions are chosen so that few are needed."],
  ["Drag a row", "It stays where you drop it (a ring marks it). Rows dropped within the halo of each other are in one group; a row dropped on its own makes a new group."],
  ["Draw a link", "Choose Link same or Link different, then draw from one row to the other."],
  ["Select with the lasso", "Then drag the rows, or use the bar at the bottom of the map."],
  ["Lock a group", "Its rows stay in it, whatever else you say."],
];

export function openHelp(root: HTMLElement): void {
  const close = makeButton({ class: "ml-button primary", autofocus: true, onclick: () => dialog.close() }, "Close");
  const keys = make("table", { class: "ml-keys" }, make("caption", {}, "Keys"));
  for (const [key, what] of KEYS) {
    keys.append(make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, key)), make("td", {}, what)));
  }
  const single = make("input", {
    type: "checkbox",
    id: uniqueId("single"),
    onchange: () => setSingleKeys(single.checked),
  });
  single.checked = singleKeys();
  const dialog = openDialog(root, {
    role: "dialog",
    title: "How to teach the groups",
    body: [
      make("dl", { class: "ml-ways" }, ...WAYS.flatMap(([what, how]) => [make("dt", {}, what), make("dd", {}, how)])),
      keys,
      make("div", {}, make("h3", { class: "ml-panel-title" }, "Keys on the map"), make("p", {}, KEYS_HELP)),
      make("label", { class: "ml-check" }, single, "Single keys act at once (not while typing)"),
    ],
    buttons: [close],
    onDismiss: () => undefined,
  });
}
