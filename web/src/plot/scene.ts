// What the canvases show besides the points.

import type { Store } from "../store";
import type { Camera } from "./camera";
import type { Drawn } from "./drawn";
import type { Theme } from "./theme";

export interface Ghost {
  rows: readonly number[];
  x: number;
  y: number;
  onto: [number, number, number] | null;
}

export interface Line {
  from: number;
  x: number;
  y: number;
  to: number | null;
  together: boolean;
}

export interface Scene {
  store: Store;
  camera: Camera;
  drawn: Drawn;
  theme: Theme;
  /** Radius of points in pixels. */
  radius: number;
  /** Row of the keyboard's cursor. */
  cursor: number | null;
  /** Rows that are being dragged, at the pointer. */
  ghost: Ghost | null;
  /** A link that is being drawn. */
  line: Line | null;
  /** Lasso as world positions x0, y0, x1, y1, ... */
  lasso: number[] | null;
  /** Rows that just changed their group, marked for a short time. */
  changed: readonly number[];
  /** Group and world position of its name. */
  labels: { group: number; x: number; y: number }[];
}
