// Messages between page and server, version 1. The same over WebSocket and in the notebook.

export const VERSION = 1;
/** Label of a row that belongs to no group. */
export const NO_GROUP = 65535;

export type ColumnKind = "number" | "category" | "text" | "image";
export type LinkSource = "file" | "drawn" | "answer" | "pin" | "lock" | "fixed";
export type ViewName = "pca" | "learned" | "umap" | "spring";
export type ExportWhat = "labels" | "links" | "report" | "python" | "log";

// ---- from the page to the server ----

export type Action =
  | { do: "link"; a: number; b: number; together: boolean }
  | { do: "unlink"; a: number; b: number }
  | { do: "answer"; a: number; b: number; together: boolean | null }
  | { do: "move"; rows: number[]; x: number; y: number; onto: [number, number, number] | null }
  | { do: "unpin"; rows: number[] }
  | { do: "rename"; group: number; name: string }
  | { do: "lock"; group: number; locked: boolean }
  | { do: "choose"; n_clusters?: number | null; method?: string; strategy?: string; eps?: number }
  | { do: "undo" }
  | { do: "redo" }
  | { do: "snapshot"; name: string }
  | { do: "restore"; name: string }
  | { do: "replace"; remove: [number, number]; then: Action };

export type Query =
  | { do: "row"; row: number }
  | { do: "compare"; a: number; b: number }
  | { do: "view"; name: ViewName }
  | { do: "image"; row: number; column: string }
  | { do: "export"; what: ExportWhat }
  | { do: "ping" };

export type ClientMessage = Action | Query;

// ---- from the server to the page ----

export interface Column {
  name: string;
  kind: ColumnKind;
}

export interface Choice {
  name: string;
  title: string;
  available: boolean;
  why: string | null;
}

export interface View extends Choice {
  name: ViewName;
}

export interface Hello {
  type: "hello";
  version: number;
  title: string;
  n_rows: number;
  n_clusters: number | null;
  columns: Column[];
  methods: Choice[];
  strategies: { name: string; title: string }[];
  views: View[];
  has_edges: boolean;
  file: string | null;
}

export interface Group {
  id: number;
  name: string;
  size: number;
  locked: boolean;
}

export interface Link {
  a: number;
  b: number;
  a_name: string;
  b_name: string;
  together: boolean;
  source: LinkSource;
  when: string | null;
  suspicion: number | null;
  kept: boolean;
}

export interface Shown {
  method: string;
  title: string;
  status: "instant" | "final" | "working" | "failed";
  n_changed: number;
  text: string;
}

export interface State {
  type: "state";
  revision: number;
  n_clusters: number | null;
  method: string;
  strategy: string;
  eps: number;
  groups: Group[];
  pins: [number, number, number][];
  links: Link[];
  n_links: number;
  /** Answers and drawn links, not what follows from pins, locks and files. */
  counts: { together: number; apart: number; skipped: number };
  history: { n: number; text: string; when: string }[];
  can_undo: boolean;
  can_redo: boolean;
  snapshots: { name: string; when: string }[];
  shown: Shown;
  notices: string[];
}

export interface Comparison {
  a: number;
  b: number;
  a_name: string;
  b_name: string;
  number?: number;
  columns: { name: string; first: string; second: string; marked: boolean; kind: ColumnKind }[];
  n_more: number;
}

export interface QuestionMessage {
  type: "question";
  question: Comparison | null;
  end: string | null;
  advice: string | null;
}

export interface Panels {
  type: "panels";
  revision: number;
  groups: {
    id: number;
    size: number;
    typical: { row: number; name: string; cells: [string, string][] }[];
    traits: string[];
  }[];
  columns: { name: string; weight: number }[];
}

export interface Done {
  type: "done";
  id: number;
  revision: number;
  ms: number;
}

export interface Refused {
  type: "refused";
  id: number;
  message: string;
  chain: Link[];
  weakest: number | null;
  /** What was refused; null if it cannot be done after a removal either. */
  then: Action | null;
}

export interface Row {
  type: "row";
  id: number;
  row: number;
  name: string;
  group: number | null;
  cells: { column: string; text: string; kind: ColumnKind }[];
  pinned: boolean;
}

export type ServerMessage =
  | Hello
  | State
  | QuestionMessage
  | Panels
  | Done
  | Refused
  | Row
  | { type: "error"; id: number | null; message: string }
  | { type: "compared"; id: number; question: Comparison }
  | { type: "file"; id: number; name: string; media: string; text: string }
  | { type: "image"; id: number; row: number; column: string; url: string }
  | { type: "closed"; message: string }
  | { type: "pong"; id: number };

/** The message that answers each kind of request. */
export interface Answers {
  row: Row;
  compare: Extract<ServerMessage, { type: "compared" }>;
  view: Done;
  image: Extract<ServerMessage, { type: "image" }>;
  export: Extract<ServerMessage, { type: "file" }>;
  ping: Extract<ServerMessage, { type: "pong" }>;
}

// ---- binary messages ----

const HEADER_BYTES = 16;

export type Buffer =
  | { kind: "positions"; revision: number; view: number; values: Float32Array }
  | { kind: "labels"; revision: number; view: number; values: Uint16Array }
  | { kind: "confidence"; revision: number; view: number; values: Uint8Array }
  | { kind: "edges"; revision: number; view: number; values: Uint32Array };

/** Read a binary message; raises an error if its header and its length do not fit. */
export function parseBuffer(bytes: ArrayBuffer | DataView): Buffer {
  const view = bytes instanceof DataView ? bytes : new DataView(bytes);
  if (view.byteLength < HEADER_BYTES) {
    throw new Error(`A binary message has ${view.byteLength} bytes; its header alone has ${HEADER_BYTES}.`);
  }
  const number = view.getUint32(0, true);
  const revision = view.getUint32(4, true);
  const place = view.getUint32(8, true);
  const count = view.getUint32(12, true);
  // A copy, since the payload need not start at a multiple of the size of its numbers.
  const start = view.byteOffset + HEADER_BYTES;
  const payload = view.buffer.slice(start, view.byteOffset + view.byteLength) as ArrayBuffer;
  const expect = (size: number): void => {
    if (payload.byteLength !== count * size) {
      throw new Error(
        `A binary message of kind ${number} announces ${count} items of ${size} bytes, and has ${payload.byteLength} bytes.`,
      );
    }
  };
  const about = { revision, view: place };
  switch (number) {
    case 1:
      expect(8);
      return { kind: "positions", ...about, values: new Float32Array(payload) };
    case 2:
      expect(2);
      return { kind: "labels", ...about, values: new Uint16Array(payload) };
    case 3:
      expect(1);
      return { kind: "confidence", ...about, values: new Uint8Array(payload) };
    case 4:
      expect(8);
      return { kind: "edges", ...about, values: new Uint32Array(payload) };
    default:
      throw new Error(`A binary message has the unknown kind ${number}.`);
  }
}

const KINDS = { positions: 1, labels: 2, confidence: 3, edges: 4 } as const;

/** Write a binary message (for the fake connection and the tests). */
export function writeBuffer(buffer: Buffer): ArrayBuffer {
  const { values } = buffer;
  const bytes = new ArrayBuffer(HEADER_BYTES + values.byteLength);
  const perItem = buffer.kind === "positions" || buffer.kind === "edges" ? 2 : 1;
  const header = [KINDS[buffer.kind], buffer.revision, buffer.view, values.length / perItem];
  const view = new DataView(bytes);
  header.forEach((value, i) => view.setUint32(4 * i, value, true));
  new Uint8Array(bytes, HEADER_BYTES).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return bytes;
}
