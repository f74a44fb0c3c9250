// Points with a 2D canvas, for browsers without WebGL: every look is drawn once and copied to its rows.

import type { Camera } from "./camera";
import { DARK_COLORS, groupColor, LIGHT_COLORS, SHAPES, shapePath } from "./palette";
import { GRAY_INDEX, MIN_SHAPE_RADIUS, type PointLayer } from "./points";

const OPACITIES = 6;

export class CanvasPoints implements PointLayer {
  readonly kind = "canvas";
  private readonly context: CanvasRenderingContext2D;
  private positions: Float32Array = new Float32Array(0);
  private styles: Uint8Array = new Uint8Array(0);
  private dark = false;
  private ratio = 1;
  private stamps = new Map<number, HTMLCanvasElement>();
  private stampKey = "";

  constructor(readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser has no canvas.");
    this.context = context;
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  setPositions(positions: Float32Array): void {
    this.positions = positions;
  }

  setStyles(styles: Uint8Array): void {
    this.styles = styles;
  }

  setDark(dark: boolean): void {
    this.dark = dark;
  }

  draw(camera: Camera, radius: number): void {
    const { context, positions, styles } = this;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (styles.length < 2 * positions.length) return;
    const device = radius * this.ratio;
    const withShapes = radius >= MIN_SHAPE_RADIUS;
    const key = `${device} ${this.dark} ${withShapes}`;
    if (key !== this.stampKey) this.stamps.clear();
    this.stampKey = key;
    for (let i = 0; i < positions.length / 2; i++) {
      const x = this.ratio * camera.screenX(positions[2 * i]!);
      const y = this.ratio * camera.screenY(positions[2 * i + 1]!);
      if (x < -device || y < -device || x > this.canvas.width + device || y > this.canvas.height + device) continue;
      const opacity = Math.round(((OPACITIES - 1) * styles[4 * i + 2]!) / 255);
      const shape = withShapes ? styles[4 * i + 1]! : 0;
      const stamp = this.stamp(styles[4 * i]!, shape, opacity, device);
      context.drawImage(stamp, Math.round(x - stamp.width / 2), Math.round(y - stamp.height / 2));
    }
  }

  private stamp(color: number, shape: number, opacity: number, radius: number): HTMLCanvasElement {
    const key = color + 16 * (shape + 16 * opacity);
    let stamp = this.stamps.get(key);
    if (stamp) return stamp;
    stamp = document.createElement("canvas");
    stamp.width = stamp.height = 2 * Math.ceil(1.4 * radius + 1);
    const context = stamp.getContext("2d")!;
    context.translate(stamp.width / 2, stamp.height / 2);
    context.scale(radius, radius);
    context.globalAlpha = opacity / (OPACITIES - 1);
    context.fillStyle = color === GRAY_INDEX ? groupColor(null, this.dark) : (this.dark ? DARK_COLORS : LIGHT_COLORS)[color]!;
    context.fill(new Path2D(shapePath(SHAPES[shape]!)));
    this.stamps.set(key, stamp);
    return stamp;
  }

  destroy(): void {
    this.canvas.remove();
  }
}
