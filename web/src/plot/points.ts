// What draws the points: WebGL, or a 2D canvas where there is no graphics card.

import { NO_GROUP } from "../protocol";
import type { Camera } from "./camera";
import { CanvasPoints } from "./canvaspoints";
import { GLPoints } from "./glpoints";
import { colorIndex, shapeIndex } from "./palette";

/** Place in the palette of rows without a group. */
export const GRAY_INDEX = 8;
/** From this radius on, shapes can be told apart; smaller points are discs. */
export const MIN_SHAPE_RADIUS = 3;
const MIN_RADIUS = 2;
const MAX_RADIUS = 5.5;
const MAX_ZOOMED_RADIUS = 7;
const MIN_ALPHA = 0.25;

export interface PointLayer {
  readonly canvas: HTMLCanvasElement;
  readonly kind: "webgl" | "canvas";
  resize(width: number, height: number, ratio: number): void;
  /** World positions x0, y0, x1, y1, ...; not copied. */
  setPositions(positions: Float32Array): void;
  /** Style of every row, see `pointStyles`; positions are not touched. */
  setStyles(styles: Uint8Array): void;
  setDark(dark: boolean): void;
  draw(camera: Camera, radius: number): void;
  destroy(): void;
}

/** Four bytes per row: color, shape, opacity, 0. */
export function pointStyles(labels: Uint16Array, confidence: Uint8Array, into: Uint8Array): Uint8Array {
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i]!;
    const isFree = label === NO_GROUP;
    into[4 * i] = isFree ? GRAY_INDEX : colorIndex(label);
    into[4 * i + 1] = isFree ? 0 : shapeIndex(label);
    into[4 * i + 2] = 255 * MIN_ALPHA + (1 - MIN_ALPHA) * confidence[i]!;
  }
  return into;
}

/** Radius of points in pixels: smaller for many rows, larger when zoomed in. */
export function pointRadius(nRows: number, zoom: number): number {
  const base = Math.max(MIN_RADIUS, Math.min(MAX_RADIUS, MAX_RADIUS * (1_000 / Math.max(nRows, 1)) ** 0.2));
  return Math.max(0.8, Math.min(MAX_ZOOMED_RADIUS, base * Math.sqrt(zoom)));
}

/** Whether WebGL is rendered in software; browsers do not always say so by themselves. */
function isSoftware(gl: WebGLRenderingContext): boolean {
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = about ? String(gl.getParameter(about.UNMASKED_RENDERER_WEBGL)) : "";
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** WebGL where a graphics card draws; WebGL in software is slower than our own blending, so only `mustHaveGL` takes it. */
export function createPoints(mustHaveGL = false): PointLayer {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl", {
    antialias: false,
    failIfMajorPerformanceCaveat: !mustHaveGL,
    powerPreference: "high-performance",
  });
  if (gl && (mustHaveGL || !isSoftware(gl))) {
    try {
      return new GLPoints(canvas, gl);
    } catch (error) {
      console.warn("WebGL does not work here; the map is drawn without it.", error);
    }
  }
  return new CanvasPoints(document.createElement("canvas"));
}
