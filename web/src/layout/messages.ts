// What page and layout worker say to each other. Positions are world positions in [-1, 1].

export type ToWorker =
  | { do: "start"; positions: Float32Array; edges: Uint32Array; untilRest: boolean }
  | { do: "know"; pins: [number, number, number][]; labels: Uint16Array }
  /** The last frame was drawn; its array is handed back. */
  | { do: "next"; positions: Float32Array };

export interface FromWorker {
  positions: Float32Array;
  isAtRest: boolean;
}
