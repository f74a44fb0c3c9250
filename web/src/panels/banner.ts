// A lost connection, and the notices of the server.

import { LOST } from "../connection";
import type { Store } from "../store";
import { KeyedList, make, makeButton } from "./element";

const STOPPED = "The studio was stopped.";

/** What happened; of a lost connection also where the answers are, and the command that goes on with them. */
function describeLoss(store: Store): (string | HTMLElement)[] {
  // A studio that is closed says itself how to continue.
  if (store.status !== "lost") return [store.notice || STOPPED];
  const file = store.hello?.file;
  if (!file) return [LOST];
  const command = `mustlink studio ${/^[\w./-]+$/.test(file) ? file : JSON.stringify(file)}`;
  return [`${LOST} Answers are saved in ${file}; if the studio was stopped, start `, make("code", {}, command), "."];
}

/** Shown while there is no connection; gone when it is there again. */
export function makeBanner(store: Store): HTMLElement {
  const banner = make("div", { class: "ml-banner", role: "alert", hidden: true });
  const show = (): void => {
    const isLost = store.status !== "open" && store.status !== "connecting";
    banner.hidden = !isLost;
    banner.replaceChildren(...(isLost ? describeLoss(store) : []));
  };
  store.subscribe(["connection", "hello"], show);
  show();
  return banner;
}

/** What the last change did besides the labels, such as "Two groups were merged"; each can be dismissed. */
export function makeNotices(store: Store): HTMLElement {
  const list = make("ul", { class: "ml-notices", "aria-label": "Notices", "aria-live": "polite" });
  const dismissed = new Set<string>();
  const entries = new KeyedList<string>(
    list,
    (notice) => notice,
    (notice) => {
      const close = makeButton(
        {
          class: "ml-button small plain",
          "aria-label": `Dismiss: ${notice}`,
          onclick: () => {
            dismissed.add(notice);
            show();
          },
        },
        "\u2715",
      );
      return { element: make("li", { class: "ml-notice" }, make("span", {}, notice), close), update: () => undefined };
    },
  );

  function show(): void {
    const notices = [...new Set(store.state?.notices ?? [])];
    // A notice that went away and comes back is shown again.
    for (const text of dismissed) if (!notices.includes(text)) dismissed.delete(text);
    entries.update(notices.filter((text) => !dismissed.has(text)));
  }

  store.subscribe("state", show);
  show();
  return list;
}
