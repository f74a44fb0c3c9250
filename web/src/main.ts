// The frame of the studio: toolbar, map, question, side panels, status line.

import type { Connection } from "./connection";
import { mountPanels } from "./panels";
import { mountPlot, type Plot } from "./plot";
import { Store } from "./store";

/** The places that panels fill. */
export interface Frame {
  root: HTMLElement;
  toolbar: HTMLElement;
  plot: HTMLElement;
  question: HTMLElement;
  side: HTMLElement;
  status: HTMLElement;
  /** Holds the map; bars and notices lie above it. */
  map: HTMLElement;
  /** Between toolbar and map. */
  banner: HTMLElement;
}

export interface Studio {
  store: Store;
  plot: Plot;
  destroy(): void;
}

declare global {
  interface Window {
    mustlinkStudio?: { store: Store; plot: Plot };
  }
}

function part(tag: string, name: string, attributes: Record<string, string> = {}): HTMLElement {
  const element = document.createElement(tag);
  element.className = `ml-${name}`;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function buildFrame(root: HTMLElement): Frame {
  root.classList.add("ml-studio");
  const frame: Frame = {
    root,
    toolbar: part("header", "toolbar"),
    plot: part("div", "plot"),
    question: part("section", "question", { role: "region", "aria-label": "Question" }),
    side: part("aside", "side", { "aria-label": "Panels" }),
    status: part("div", "status", { role: "status", "aria-label": "Status" }),
    map: part("div", "map"),
    banner: part("div", "banners"),
  };
  frame.map.append(frame.plot);
  // The question comes first, for the keyboard and on a narrow screen.
  const main = part("main", "main");
  main.append(frame.question, frame.map);
  const grid = part("div", "frame");
  grid.append(frame.toolbar, frame.banner, main, frame.side, frame.status);
  root.replaceChildren(grid);
  return frame;
}

/** Build the studio in an element and keep it in step with a connection. */
export function mountStudio(root: HTMLElement, connection: Connection): Studio {
  const store = new Store(connection);
  const frame = buildFrame(root);
  const plot = mountPlot(frame.plot, store, root);
  const endPanels = mountPanels(frame, store, plot);
  const studio = {
    store,
    plot,
    destroy() {
      endPanels();
      plot.destroy();
      store.destroy();
      root.replaceChildren();
      if (window.mustlinkStudio?.store === store) delete window.mustlinkStudio;
    },
  };
  window.mustlinkStudio = { store, plot };
  return studio;
}
