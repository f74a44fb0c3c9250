// A studio without a server: random rows, and rules just good enough to work on the page.

import { Exchange } from "../src/connection";
import {
  type Action,
  type ClientMessage,
  type Comparison,
  type Group,
  type Link,
  NO_GROUP,
  type Query,
  type ServerMessage,
  type State,
  writeBuffer,
} from "../src/protocol";

export interface FakeOptions {
  rows?: number;
  groups?: number;
  edges?: boolean;
  seed?: number;
  /** Milliseconds from a message to its answer. */
  delay?: number;
}

interface Snapshot {
  links: Link[];
  pins: [number, number, number][];
  groups: Group[];
  labels: Uint16Array;
  text: string;
}

/** Small random generator (mulberry32), so that pictures and tests repeat. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const KINDS = ["number", "number", "category", "text"] as const;
const NAMES = ["length", "width", "kind", "note"];

export class FakeConnection extends Exchange {
  private readonly n: number;
  private readonly k: number;
  private readonly delay: number;
  private readonly random: () => number;
  private readonly truth: Uint16Array;
  private readonly views: Float32Array[];
  private readonly edges: Uint32Array;
  private readonly confidence: Uint8Array;
  private past: Snapshot[] = [];
  private future: Snapshot[] = [];
  private now: Snapshot;
  private readonly saved = new Map<string, Snapshot>();
  private revision = 1;
  private asked = 0;
  private choices = { n_clusters: null as number | null, method: "auto", strategy: "minmax", eps: 0.08 };

  constructor(options: FakeOptions = {}) {
    super();
    this.n = options.rows ?? 2_000;
    this.k = options.groups ?? 5;
    this.delay = options.delay ?? 20;
    this.random = randomNumbers(options.seed ?? 1);
    this.truth = new Uint16Array(this.n);
    this.views = [this.blobs(0.11), this.blobs(0.05)];
    this.edges = options.edges ? this.neighbors() : new Uint32Array(0);
    const first = this.views[0]!;
    this.confidence = Uint8Array.from({ length: this.n }, (_, i) => 255 * Math.min(1, 0.15 + 1.6 * Math.abs(first[2 * i]!)));
    const labels = this.truth.map((group) => (this.random() < 0.03 ? NO_GROUP : group));
    const groups = Array.from({ length: this.k }, (_, id) => ({ id, name: `group ${id + 1}`, size: 0, locked: id === 1 }));
    this.now = { links: [], pins: [], groups, labels, text: "started" };
    for (let i = 0; i < 6; i++) this.now.links.push(this.link(this.pick(), this.pick(), i % 2 === 0, "file"));
    setTimeout(() => this.open(), this.delay);
  }

  private pick(): number {
    return Math.floor(this.random() * this.n);
  }

  private blobs(spread: number): Float32Array {
    const positions = new Float32Array(2 * this.n);
    for (let i = 0; i < this.n; i++) {
      const group = (this.truth[i] = i % this.k);
      const angle = (2 * Math.PI * group) / this.k;
      positions[2 * i] = Math.max(-1, Math.min(1, 0.6 * Math.cos(angle) + spread * gaussian(this.random)));
      positions[2 * i + 1] = Math.max(-1, Math.min(1, 0.6 * Math.sin(angle) + spread * gaussian(this.random)));
    }
    return positions;
  }

  private neighbors(): Uint32Array {
    const edges: number[] = [];
    for (let i = 0; i < this.n; i++) {
      for (let j = 0; j < 2; j++) {
        const same = this.random() < 0.9;
        let other = same ? (i + this.k * (1 + Math.floor(this.random() * 40))) % this.n : this.pick();
        if (same && this.truth[other] !== this.truth[i]) other = i >= this.k ? i - this.k : i + this.k;
        if (other !== i && other < this.n) edges.push(i, other);
      }
    }
    return Uint32Array.from(edges);
  }

  private link(a: number, b: number, together: boolean, source: Link["source"]): Link {
    return {
      a,
      b,
      a_name: `row ${a}`,
      b_name: `row ${b}`,
      together,
      source,
      when: new Date(1.8e12).toISOString(),
      suspicion: source === "file" ? Math.round(100 * this.random()) / 100 : null,
      kept: true,
    };
  }

  private open(): void {
    this.setStatus("open");
    const choice = (name: string, title: string, available = true, why: string | null = null) => ({ name, title, available, why });
    this.receiveMessage({
      type: "hello",
      version: 1,
      title: "random rows",
      n_rows: this.n,
      n_clusters: null,
      columns: NAMES.map((name, i) => ({ name, kind: KINDS[i]! })),
      methods: [
        choice("auto", "Automatic"),
        choice("instant", "Seeded single link"),
        choice("boost", "Robust boosting"),
        choice("ccib", "CCIB", false, "needs a table of counts"),
      ],
      strategies: [
        { name: "minmax", title: "Farthest first" },
        { name: "random", title: "Random pairs" },
      ],
      views: [
        { ...choice("pca", "Principal components"), name: "pca" },
        { ...choice("learned", "The view your links make"), name: "learned" },
        { ...choice("umap", "UMAP", false, "umap-learn is not installed"), name: "umap" },
        { ...choice("spring", "Springs", this.edges.length > 0, this.edges.length ? null : "there are no edges"), name: "spring" },
      ],
      has_edges: this.edges.length > 0,
      file: "random.mustlink",
    });
    const place = this.edges.length ? 3 : 0;
    this.receiveBytes(writeBuffer({ kind: "positions", revision: 1, view: place, values: this.views[0]! }));
    if (this.edges.length) this.receiveBytes(writeBuffer({ kind: "edges", revision: 1, view: 0, values: this.edges }));
    this.tellAll();
    setTimeout(() => this.tellPanels(), this.delay);
    this.askNext();
  }

  private tellAll(): void {
    const { labels } = this.now;
    const about = { revision: this.revision, view: 0 };
    this.receiveBytes(writeBuffer({ kind: "labels", ...about, values: labels }));
    this.receiveBytes(writeBuffer({ kind: "confidence", ...about, values: this.confidence }));
    this.receiveMessage(this.stateMessage());
  }

  private stateMessage(): State {
    const sizes = new Array<number>(this.k).fill(0);
    for (const label of this.now.labels) if (label < this.k) sizes[label]!++;
    const links = this.now.links.filter((link) => link.source !== "pin");
    return {
      type: "state",
      revision: this.revision,
      ...this.choices,
      groups: this.now.groups.map((group) => ({ ...group, size: sizes[group.id] ?? 0 })),
      pins: this.now.pins,
      links: this.now.links.slice(0, 2_000),
      n_links: this.now.links.length,
      counts: {
        together: links.filter((link) => link.together).length,
        apart: links.filter((link) => !link.together).length,
        skipped: 0,
      },
      history: [...this.past, this.now].slice(-200).map((step, n) => ({ n, text: step.text, when: new Date(1.8e12).toISOString() })),
      can_undo: this.past.length > 0,
      can_redo: this.future.length > 0,
      snapshots: [...this.saved.keys()].map((name) => ({ name, when: new Date(1.8e12).toISOString() })),
      shown: { method: "instant", title: "Seeded single link", status: "instant", n_changed: 0, text: this.now.text },
      notices: [],
    };
  }

  private tellPanels(): void {
    this.receiveMessage({
      type: "panels",
      revision: this.revision,
      groups: this.stateMessage().groups.map(({ id, size }) => ({
        id,
        size,
        typical: [id, id + this.k].map((row) => ({ row, name: `row ${row}`, cells: this.cells(row).map((cell) => [cell.column, cell.text]) })),
        traits: [`length is high (mean ${id}.3)`, "kind is mostly b"],
      })),
      columns: NAMES.map((name, i) => ({ name, weight: 1 / (1 + i) })),
    });
  }

  private cells(row: number): { column: string; text: string; kind: (typeof KINDS)[number] }[] {
    const x = this.views[0]!;
    const texts = [x[2 * row]!.toFixed(3), x[2 * row + 1]!.toFixed(3), "abc"[row % 3]!, `<b>row ${row}</b> was measured twice`];
    return NAMES.map((column, i) => ({ column, text: texts[i]!, kind: KINDS[i]! }));
  }

  private compare(a: number, b: number): Comparison {
    const [first, second] = [this.cells(a), this.cells(b)];
    return {
      a,
      b,
      a_name: `row ${a}`,
      b_name: `row ${b}`,
      columns: first.map((cell, i) => ({
        name: cell.column,
        first: cell.text,
        second: second[i]!.text,
        marked: cell.text !== second[i]!.text && i < 3,
        kind: cell.kind,
      })),
      n_more: 3,
    };
  }

  private askNext(): void {
    this.asked++;
    const question = { ...this.compare(this.pick(), this.pick()), number: this.asked };
    setTimeout(() => this.receiveMessage({ type: "question", question, end: null, advice: null }), this.delay);
  }

  protected transmit(message: ClientMessage & { id: number }): void {
    setTimeout(() => this.answer(message), this.delay);
  }

  private answer({ id, ...message }: ClientMessage & { id: number }): void {
    const started = performance.now();
    switch (message.do) {
      case "row":
      case "compare":
      case "view":
      case "image":
      case "export":
      case "ping":
        this.receiveMessage(this.reply(id, message as Query));
        return;
      default:
        break;
    }
    const action = message as Action;
    const refusal = this.refusal(id, action);
    if (refusal) {
      this.receiveMessage(refusal);
      return;
    }
    this.apply(action);
    this.revision++;
    this.receiveMessage({ type: "done", id, revision: this.revision, ms: performance.now() - started });
    this.tellAll();
    this.tellPanels();
    if (action.do === "answer") this.askNext();
  }

  private reply(id: number, query: Query): ServerMessage {
    switch (query.do) {
      case "row":
        return {
          type: "row",
          id,
          row: query.row,
          name: `row ${query.row}`,
          group: this.now.labels[query.row]!,
          cells: this.cells(query.row),
          pinned: this.now.pins.some((pin) => pin[0] === query.row),
        };
      case "compare":
        return { type: "compared", id, question: this.compare(query.a, query.b) };
      case "view": {
        const place = { pca: 0, learned: 1, umap: 2, spring: 3 }[query.name];
        this.receiveBytes(writeBuffer({ kind: "positions", revision: this.revision, view: place, values: this.views[place === 1 ? 1 : 0]! }));
        return { type: "done", id, revision: this.revision, ms: 1 };
      }
      case "image":
        return { type: "image", id, row: query.row, column: query.column, url: "data:," };
      case "export":
        return { type: "file", id, name: `${query.what}.csv`, media: "text/csv", text: "row,group\n0,1\n" };
      case "ping":
        return { type: "pong", id };
    }
  }

  private refusal(id: number, action: Action): ServerMessage | null {
    if (action.do !== "link" && action.do !== "answer") return null;
    const there = this.now.links.find(
      (link) => Math.min(link.a, link.b) === Math.min(action.a, action.b) && Math.max(link.a, link.b) === Math.max(action.a, action.b),
    );
    if (!there || action.together === null || there.together === action.together) return null;
    return {
      type: "refused",
      id,
      message: `${there.a_name} and ${there.b_name} are already linked the other way.`,
      chain: [there],
      weakest: 0,
      then: action,
    };
  }

  private apply(action: Action): void {
    if (action.do === "undo" || action.do === "redo") {
      const [from, to] = action.do === "undo" ? [this.past, this.future] : [this.future, this.past];
      const step = from.pop();
      if (!step) return;
      to.push(this.now);
      this.now = step;
      return;
    }
    const before = this.now;
    const next: Snapshot = { ...before, text: action.do };
    this.change(next, action);
    this.past.push(before);
    this.future = [];
    this.now = next;
  }

  private change(next: Snapshot, action: Action): void {
    const without = (a: number, b: number): Link[] =>
      next.links.filter((link) => !((link.a === a && link.b === b) || (link.a === b && link.b === a)));
    switch (action.do) {
      case "link":
        next.links = [...next.links, this.link(action.a, action.b, action.together, "drawn")];
        next.labels = this.relabel(next.labels, [action.b], action.together ? next.labels[action.a]! : NO_GROUP);
        break;
      case "answer":
        if (action.together !== null) next.links = [...next.links, this.link(action.a, action.b, action.together, "answer")];
        if (action.together) next.labels = this.relabel(next.labels, [action.b], next.labels[action.a]!);
        break;
      case "unlink":
        next.links = without(action.a, action.b);
        break;
      case "replace":
        next.links = without(...action.remove);
        this.change(next, action.then);
        break;
      case "move": {
        const pins = new Map(next.pins.map((pin) => [pin[0], pin]));
        if (action.onto) pins.set(action.onto[0], action.onto);
        action.rows.forEach((row, i) => {
          const radius = 0.4 * this.choices.eps * Math.sqrt(i / action.rows.length);
          pins.set(row, [row, action.x + radius * Math.cos(2.4 * i), action.y + radius * Math.sin(2.4 * i)]);
        });
        next.pins = [...pins.values()];
        if (action.onto) next.labels = this.relabel(next.labels, action.rows, next.labels[action.onto[0]]!);
        break;
      }
      case "unpin":
        next.pins = next.pins.filter((pin) => !action.rows.includes(pin[0]));
        break;
      case "rename":
        next.groups = next.groups.map((group) => (group.id === action.group ? { ...group, name: action.name } : group));
        break;
      case "lock":
        next.groups = next.groups.map((group) => (group.id === action.group ? { ...group, locked: action.locked } : group));
        break;
      case "choose": {
        const { do: _, ...fields } = action;
        this.choices = { ...this.choices, ...fields };
        break;
      }
      case "snapshot":
        this.saved.set(action.name, this.now);
        break;
      case "restore":
        Object.assign(next, this.saved.get(action.name) ?? {});
        break;
      default:
        break;
    }
  }

  private relabel(labels: Uint16Array, rows: number[], group: number): Uint16Array {
    const changed = labels.slice();
    for (const row of rows) changed[row] = group;
    return changed;
  }

  close(): void {
    this.setStatus("closed", "The page closed the connection.");
  }
}
