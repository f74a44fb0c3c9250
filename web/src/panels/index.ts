// Toolbar, question card, side panels, status line and dialogs.

import type { Frame } from "../main";
import type { Store } from "../store";

/** Fill the frame; the returned function takes everything away. */
export function mountPanels(frame: Frame, store: Store): () => void {
  const show = (): void => {
    frame.status.textContent = store.notice || store.state?.shown.text || "";
  };
  return store.subscribe(["state", "notice"], show);
}
