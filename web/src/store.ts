// What the page knows, in one place. Plot and panels read it and subscribe to its topics.

import type { Connection, ConnectionStatus } from "./connection";
import type {
  Action,
  Answers,
  Buffer,
  Done,
  Hello,
  Panels,
  Query,
  QuestionMessage,
  Refused,
  ServerMessage,
  State,
  ViewName,
} from "./protocol";
import { NO_GROUP } from "./protocol";

export type Mode = "pan" | "lasso" | "same" | "different";

export type Topic =
  | "hello"
  | "state"
  | "question"
  | "panels"
  | "positions"
  | "labels"
  | "confidence"
  | "edges"
  | "view"
  | "selection"
  | "hover"
  | "mode"
  | "refused"
  | "notice"
  | "busy"
  | "connection";

export class Store {
  hello: Hello | null = null;
  state: State | null = null;
  question: QuestionMessage | null = null;
  panels: Panels | null = null;
  /** Positions by the view's place in `hello.views`. */
  readonly positions = new Map<number, Float32Array>();
  labels: Uint16Array = new Uint16Array(0);
  /** Rows that the last labels put into another group. */
  changed: readonly number[] = [];
  confidence: Uint8Array = new Uint8Array(0);
  edges: Uint32Array = new Uint32Array(0);
  /** The view that is drawn; null until its positions are there. */
  view: ViewName | null = null;
  /** Selected rows, in the order in which they were selected. */
  selection: readonly number[] = [];
  hovered: number | null = null;
  mode: Mode = "pan";
  /** The last refused action, until the person decides. */
  refused: Refused | null = null;
  /** A sentence for the status line that is not part of the state: an error, a lost connection. */
  notice = "";
  /** Number of actions that are not acknowledged yet. */
  busy = 0;
  status: ConnectionStatus = "connecting";
  /** When the last action was sent (`performance.now()`), for measuring. */
  actedAt = 0;

  private readonly listeners = new Map<Topic, Set<() => void>>();
  private readonly rows = new Map<number, Promise<Answers["row"]>>();
  private wanted: ViewName | null = null;
  private readonly stop: () => void;

  constructor(readonly connection: Connection) {
    this.stop = connection.on({
      message: (message) => this.receive(message),
      buffer: (buffer) => this.receiveBuffer(buffer),
      status: (status, text) => this.receiveStatus(status, text),
    });
  }

  /** Call `fn` after every change of a topic; the returned function ends it. */
  subscribe(topics: Topic | readonly Topic[], fn: () => void): () => void {
    const list: readonly Topic[] = typeof topics === "string" ? [topics] : topics;
    for (const topic of list) {
      let set = this.listeners.get(topic);
      if (!set) this.listeners.set(topic, (set = new Set()));
      set.add(fn);
    }
    return () => {
      for (const topic of list) this.listeners.get(topic)?.delete(fn);
    };
  }

  private tell(...topics: Topic[]): void {
    const called = new Set<() => void>();
    for (const topic of topics) {
      for (const fn of [...(this.listeners.get(topic) ?? [])]) {
        if (called.has(fn)) continue;
        called.add(fn);
        fn();
      }
    }
  }

  // ---- what the person does ----

  /** Send an action. A refusal is kept in `refused`; an error becomes the notice and is raised. */
  async act(action: Action): Promise<Done | Refused> {
    this.actedAt = performance.now();
    this.setRefused(null);
    this.setBusy(1);
    try {
      const answer = await this.connection.request(action);
      if (answer.type === "refused") this.setRefused(answer);
      else if (this.notice) this.setNotice("");
      return answer;
    } catch (error) {
      this.setNotice(sentence(error));
      throw error;
    } finally {
      this.setBusy(-1);
    }
  }

  /** Ask for something that changes nothing; an error becomes the notice and is raised. */
  async ask<Q extends Query>(query: Q): Promise<Answers[Q["do"]]> {
    try {
      return await this.connection.request(query);
    } catch (error) {
      this.setNotice(sentence(error));
      throw error;
    }
  }

  /** The cells of a row, kept until the next state. */
  row(row: number): Promise<Answers["row"]> {
    let answer = this.rows.get(row);
    if (!answer) {
      answer = this.connection.request({ do: "row", row });
      this.rows.set(row, answer);
      answer.catch(() => this.rows.delete(row));
    }
    return answer;
  }

  /** Show a view; asks the server for its positions if they are not here. */
  show(name: ViewName): void {
    const place = this.place(name);
    if (place < 0) return;
    if (this.positions.has(place)) {
      this.wanted = null;
      this.view = name;
      this.tell("view");
    }
    // Asked again even if it is here: the view that the links make changes with them.
    if (!this.positions.has(place) || name === "learned") {
      if (!this.positions.has(place)) this.wanted = name;
      this.tell("view");
      void this.ask({ do: "view", name }).catch(() => {
        this.wanted = null;
        this.tell("view");
      });
    }
  }

  /** The view that was asked for and is not here yet. */
  get awaitedView(): ViewName | null {
    return this.wanted;
  }

  select(rows: readonly number[]): void {
    if (rows.length === this.selection.length && rows.every((row, i) => row === this.selection[i])) return;
    this.selection = rows;
    this.tell("selection");
  }

  hover(row: number | null): void {
    if (row === this.hovered) return;
    this.hovered = row;
    this.tell("hover");
  }

  setMode(mode: Mode): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.tell("mode");
  }

  setRefused(refused: Refused | null): void {
    if (refused === this.refused) return;
    this.refused = refused;
    this.tell("refused");
  }

  setNotice(text: string): void {
    if (text === this.notice) return;
    this.notice = text;
    this.tell("notice");
  }

  private setBusy(step: 1 | -1): void {
    this.busy += step;
    this.tell("busy");
  }

  // ---- what is read of it ----

  get nRows(): number {
    return this.hello?.n_rows ?? 0;
  }

  /** Place of a view in `hello.views`, -1 if there is none. */
  place(name: ViewName | null): number {
    return this.hello?.views.findIndex((view) => view.name === name) ?? -1;
  }

  /** Positions of the shown view as the server gave them. */
  get shownPositions(): Float32Array | null {
    return this.positions.get(this.place(this.view)) ?? null;
  }

  /** Group of a row, or null. */
  groupOf(row: number): number | null {
    const label = this.labels[row];
    return label === undefined || label === NO_GROUP ? null : label;
  }

  // ---- what arrives ----

  private receive(message: ServerMessage): void {
    switch (message.type) {
      case "hello":
        this.startOver(message);
        this.tell("hello", "view");
        break;
      case "state":
        this.state = message;
        this.rows.clear();
        this.tell("state");
        break;
      case "question":
        this.question = message;
        this.tell("question");
        break;
      case "panels":
        this.panels = message;
        this.tell("panels");
        break;
      case "error":
        if (message.id === null) this.setNotice(message.message);
        break;
      default:
        break;
    }
  }

  /** A hello after a reconnect may be of another server: nothing of the old one stays but the view. */
  private startOver(hello: Hello): void {
    this.hello = hello;
    this.positions.clear();
    this.rows.clear();
    this.labels = new Uint16Array(hello.n_rows).fill(NO_GROUP);
    this.confidence = new Uint8Array(hello.n_rows).fill(255);
    this.edges = new Uint32Array(0);
    this.selection = this.selection.filter((row) => row < hello.n_rows);
    this.hovered = null;
    this.wanted = this.view;
    this.view = null;
  }

  private receiveBuffer(buffer: Buffer): void {
    const n = this.nRows;
    switch (buffer.kind) {
      case "positions": {
        if (buffer.values.length !== 2 * n) return;
        const name = this.hello?.views[buffer.view]?.name;
        if (!name) return;
        this.positions.set(buffer.view, buffer.values);
        if (this.view === null || this.wanted === name) {
          const again = this.wanted !== null && this.wanted !== name ? this.wanted : null;
          this.view = name;
          this.wanted = null;
          this.tell("view");
          if (again) this.show(again);
        } else if (name === this.view) {
          this.tell("positions");
        }
        break;
      }
      case "labels":
        if (buffer.values.length !== n) return;
        this.changed = changedRows(this.labels, buffer.values);
        this.labels = buffer.values;
        this.tell("labels");
        break;
      case "confidence":
        if (buffer.values.length !== n) return;
        this.confidence = buffer.values;
        this.tell("confidence");
        break;
      case "edges":
        this.edges = buffer.values;
        this.tell("edges");
        break;
    }
  }

  private receiveStatus(status: ConnectionStatus, text: string): void {
    this.status = status;
    this.setNotice(text);
    this.tell("connection");
  }

  destroy(): void {
    this.stop();
    this.listeners.clear();
  }
}

/** Rows that had a group and have another one, or none. */
function changedRows(before: Uint16Array, after: Uint16Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < after.length; row++) {
    if (before[row] !== after[row] && before[row] !== NO_GROUP) rows.push(row);
  }
  return rows;
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
