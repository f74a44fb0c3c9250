// A lost connection, and the notices of the server.

import type { Store } from "../store";
import { KeyedList, make, makeButton, setText } from "./element";

function describeLoss(store: Store): string {
  const file = store.hello?.file;
  const kept = file ? ` Answers are saved in ${file}; start \`mustlink studio ${file}\` again.` : "";
  if (store.status === "lost") return `The connection to the studio is lost; trying again.${kept}`;
  return `${store.notice || "The studio was stopped."}${kept}`;
}

/** Shown while there is no connection; gone when it is there again. */
export function makeBanner(store: Store): HTMLElement {
  const text = make("span");
  const banner = make("div", { class: "ml-banner", role: "alert", hidden: true }, text);
  const show = (): void => {
    const isLost = store.status === "lost" || store.status === "closed";
    banner.hidden = !isLost;
    setText(text, isLost ? describeLoss(store) : "");
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
