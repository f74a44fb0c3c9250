// A connection that the test plays the server of, and messages to fill the panels with.

import { Exchange } from "../../src/connection";
import { mountPanels } from "../../src/panels";
import type { Frame } from "../../src/main";
import type { ClientMessage, Comparison, Hello, Link, Panels, ServerMessage, State } from "../../src/protocol";
import { writeBuffer } from "../../src/protocol";
import { Store } from "../../src/store";

export class ScriptedConnection extends Exchange {
  readonly sent: (ClientMessage & { id: number })[] = [];

  protected transmit(message: ClientMessage & { id: number }): void {
    this.sent.push(message);
  }

  /** The last message, without its number. */
  get last(): ClientMessage {
    const { id: _, ...message } = this.sent.at(-1)!;
    return message as ClientMessage;
  }

  get lastId(): number {
    return this.sent.at(-1)!.id;
  }

  tell(...messages: ServerMessage[]): void {
    for (const message of messages) this.receiveMessage(message);
  }

  tellLabels(labels: number[]): void {
    const values = Uint16Array.from(labels);
    this.receiveBytes(writeBuffer({ kind: "labels", revision: 1, view: 0, values }));
  }

  tellPositions(positions: number[]): void {
    const values = Float32Array.from(positions);
    this.receiveBytes(writeBuffer({ kind: "positions", revision: 1, view: 0, values }));
  }

  setOpen(): void {
    this.setStatus("open");
  }

  lose(): void {
    this.setStatus("lost", "The connection to the studio is lost; trying again.");
  }

  close(text = "The studio was stopped."): void {
    this.setStatus("closed", text);
  }

  /** Acknowledge the last action and let its promise continue. */
  async acknowledge(): Promise<void> {
    this.tell({ type: "done", id: this.lastId, revision: 2, ms: 1 });
    await settle();
  }
}

/** Let promises that are resolved continue. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve();
}

export const hello: Hello = {
  type: "hello",
  version: 1,
  title: "customers.csv",
  n_rows: 6,
  n_clusters: null,
  columns: [
    { name: "age", kind: "number" },
    { name: "note", kind: "text" },
    { name: "photo", kind: "image" },
  ],
  methods: [
    { name: "auto", title: "Automatic", available: true, why: null },
    { name: "boost", title: "RobustBoostCluster", available: true, why: null },
    { name: "ccib", title: "CCIB", available: false, why: "needs counts" },
  ],
  strategies: [
    { name: "minmax", title: "farthest first" },
    { name: "random", title: "random pairs" },
  ],
  views: [
    { name: "pca", title: "Principal components", available: true, why: null },
    { name: "learned", title: "The view your links make", available: true, why: null },
    { name: "umap", title: "UMAP", available: false, why: "umap-learn is not installed" },
    { name: "spring", title: "Springs", available: false, why: "there are no edges" },
  ],
  has_edges: false,
  file: "customers.mustlink",
};

export function link(a: number, b: number, given: Partial<Link> = {}): Link {
  return {
    a,
    b,
    a_name: `row ${a}`,
    b_name: `row ${b}`,
    together: true,
    source: "answer",
    when: "2026-01-02T03:04:05Z",
    suspicion: null,
    kept: true,
    ...given,
  };
}

export function state(given: Partial<State> = {}): State {
  return {
    type: "state",
    revision: 1,
    n_clusters: null,
    method: "auto",
    strategy: "minmax",
    eps: 0.08,
    groups: [
      { id: 0, name: "regulars", size: 2, locked: false },
      { id: 1, name: "Group 2", size: 4, locked: true },
    ],
    pins: [],
    links: [],
    n_links: 0,
    counts: { together: 2, apart: 1, skipped: 0 },
    history: [{ n: 1, text: "Answered: row 0 and row 1 are in the same group", when: "2026-01-02T03:04:05Z" }],
    can_undo: true,
    can_redo: false,
    snapshots: [],
    shown: { method: "boost", title: "RobustBoostCluster", status: "final", n_changed: 23, text: "" },
    notices: [],
    ...given,
  };
}

export const panels: Panels = {
  type: "panels",
  revision: 1,
  groups: [
    { id: 0, size: 2, typical: [{ row: 1, name: "row 1", cells: [["age", "31"]] }], traits: ["age is high"] },
    { id: 1, size: 4, typical: [], traits: [] },
  ],
  columns: [
    { name: "age", weight: 0.25 },
    { name: "note", weight: 0.5 },
  ],
};

export function comparison(given: Partial<Comparison> = {}): Comparison {
  return {
    a: 0,
    b: 1,
    a_name: "Anna",
    b_name: "Bert",
    number: 7,
    columns: [
      { name: "age", first: "31", second: "64", marked: true, kind: "number" },
      { name: "note", first: "<b>bold</b>", second: "", marked: false, kind: "text" },
    ],
    n_more: 3,
    ...given,
  };
}

export interface Mounted {
  connection: ScriptedConnection;
  store: Store;
  root: HTMLElement;
  /** What the map was asked to bring into view. */
  focused: number[][];
  /** Stands for the map; `places` can be set to where a test draws rows. */
  plot: { places: Float32Array };
  end(): void;
}

/** The panels without the map, connected and filled. */
export function mount(): Mounted {
  window.matchMedia ??= (query: string) =>
    ({ matches: false, media: query, addEventListener: () => {}, removeEventListener: () => {} }) as never;
  Element.prototype.scrollIntoView ??= () => {};
  const part = (): HTMLElement => document.createElement("div");
  const root = part();
  const frame: Frame = {
    root,
    toolbar: part(),
    plot: part(),
    question: part(),
    side: part(),
    status: part(),
    map: part(),
    banner: part(),
  };
  frame.plot.tabIndex = 0;
  frame.plot.setAttribute("aria-label", "Map of the rows");
  const { root: _, ...parts } = frame;
  root.append(...Object.values(parts));
  document.body.replaceChildren(root);
  const connection = new ScriptedConnection();
  const store = new Store(connection);
  const focused: number[][] = [];
  const places: Float32Array = new Float32Array(0);
  const plot = { focus: (rows: readonly number[]) => void focused.push([...rows]), places };
  const end = mountPanels(frame, store, plot);
  connection.setOpen();
  connection.tell(hello);
  connection.tellPositions([0, 0, 0.1, 0, 0.5, 0.5, 0.6, 0.5, -0.5, -0.5, -0.6, -0.5]);
  connection.tellLabels([0, 0, 1, 1, 1, 1]);
  connection.tell(state(), panels, { type: "question", question: comparison(), end: null, advice: null });
  plot.places = store.shownPositions!;
  return { connection, store, root, focused, plot, end };
}

/** An element by its role's selector and its accessible name (label, or text). */
export function named<E extends HTMLElement = HTMLElement>(root: ParentNode, selector: string, name: string): E {
  const found = [...root.querySelectorAll<E>(selector)].filter(
    (element) => (element.getAttribute("aria-label") ?? element.textContent) === name,
  );
  if (found.length !== 1) throw new Error(`${found.length} elements ${selector} are named ${name}`);
  return found[0]!;
}

export function pressKey(key: string, given: KeyboardEventInit = {}, target: EventTarget = document.body): void {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...given }));
}

export function change(element: HTMLInputElement | HTMLSelectElement, value: string): void {
  element.value = value;
  element.dispatchEvent(new Event("input", { bubbles: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}
