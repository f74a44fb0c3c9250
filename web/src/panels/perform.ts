// How panels act: errors are in the status line and refusals in the dialog by then, so that they need no handling here.

import type { Action } from "../protocol";
import type { Store } from "../store";

/** Do something; `onFailure` is called if it was refused or did not arrive. */
export function perform(store: Store, action: Action, onFailure: () => void = () => undefined): void {
  store.act(action).then((reply) => {
    if (reply.type === "refused") onFailure();
  }, onFailure);
}
