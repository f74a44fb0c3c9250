// Toolbar, question card, side panels, status line and dialogs.

import type { Frame } from "../main";
import type { Plot } from "../plot";
import type { Store } from "../store";
import { makeBanner, makeNotices } from "./banner";
import { makeColumnsPanel } from "./columns";
import { watchConflicts } from "./conflict";
import { makeExportPanel } from "./export";
import { makeGroupsPanel } from "./groups";
import { openHelp } from "./help";
import { makeHistoryPanel } from "./history";
import { listenToKeys } from "./keyboard";
import { makeLinksPanel } from "./links";
import { mountQuestion } from "./question";
import { makeSelectionBar } from "./selection";
import { mountStatus } from "./status";
import { setGroupColors } from "./symbol";
import { makeTabs } from "./tabs";
import { followTheme } from "./theme";
import { makeModes, mountToolbar } from "./toolbar";

/** Fill the frame; the returned function stops listening to keys and to the system's theme. */
export function mountPanels(frame: Frame, store: Store, plot: Pick<Plot, "focus" | "places">): () => void {
  const { root } = frame;
  const showOnMap = (rows: readonly number[]): void => {
    store.select(rows);
    plot.focus(rows);
    frame.map.scrollIntoView({ block: "nearest" });
  };
  const help = (): void => openHelp(root);
  const toolbar = mountToolbar(frame.toolbar, store, { toggleTheme: () => theme.toggle(), openHelp: help });
  const theme = followTheme(root, (now) => {
    setGroupColors(root, now);
    toolbar.showTheme(now);
  });
  const question = mountQuestion(frame.question, store, showOnMap);
  const tabs = makeTabs("Panels", [
    { title: "Groups", content: makeGroupsPanel(store, showOnMap) },
    { title: "Links", content: makeLinksPanel(store, showOnMap) },
    { title: "Columns", content: makeColumnsPanel(store) },
    { title: "History", content: makeHistoryPanel(store) },
    { title: "Export", content: makeExportPanel(store) },
  ]);
  frame.side.append(tabs.element);
  frame.banner.append(makeBanner(store));
  frame.map.append(makeModes(store), makeNotices(store), makeSelectionBar(store, frame.plot, plot));
  mountStatus(frame.status, store);
  watchConflicts(root, store);
  const stopKeys = listenToKeys(root, { store, question, openHelp: help });
  return () => {
    stopKeys();
    theme.destroy();
  };
}
