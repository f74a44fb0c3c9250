// Points without a graphics card: discs and shapes are blended into pixels here, which is faster than 2D drawing calls.

import type { Camera } from "./camera";
import { paletteNumbers, SHAPES, shapePath } from "./palette";
import { MIN_SHAPE_RADIUS, type PointLayer } from "./points";

/** How much of each pixel around its middle a shape covers, from 0 to 255. */
interface Stamp {
  side: number;
  covered: Uint8Array;
}

export class CanvasPoints implements PointLayer {
  readonly kind = "canvas";
  private readonly context: CanvasRenderingContext2D;
  private positions: Float32Array = new Float32Array(0);
  private styles: Uint8Array = new Uint8Array(0);
  private colors = new Uint8Array(27);
  private ratio = 1;
  private image: ImageData | null = null;
  private stamps: Stamp[] = [];
  private stampKey = "";

  constructor(readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser has no canvas.");
    this.context = context;
    this.setDark(false);
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.image = null;
  }

  setPositions(positions: Float32Array): void {
    this.positions = positions;
  }

  setStyles(styles: Uint8Array): void {
    this.styles = styles;
  }

  setDark(dark: boolean): void {
    this.colors = Uint8Array.from(paletteNumbers(dark), (value) => Math.round(255 * value));
  }

  draw(camera: Camera, radius: number): void {
    const { width, height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.image ??= this.context.createImageData(width, height);
    // Plain bytes: the clamped ones of an image are slower to write.
    const data = new Uint8Array(this.image.data.buffer);
    data.fill(0);
    if (this.styles.length >= 2 * this.positions.length) {
      this.prepareStamps(radius);
      this.blend(data, camera, radius >= MIN_SHAPE_RADIUS);
      divideByAlpha(data);
    }
    this.context.putImageData(this.image, 0, 0);
  }

  /** Blend all rows into pixels whose colors are multiplied by their opacity. */
  private blend(data: Uint8Array, camera: Camera, withShapes: boolean): void {
    const { positions, styles, ratio } = this;
    const { width, height } = this.canvas;
    for (let i = 0; i < positions.length / 2; i++) {
      const stamp = this.stamps[withShapes ? styles[4 * i + 1]! : 0]!;
      const left = Math.round(ratio * camera.screenX(positions[2 * i]!) - stamp.side / 2);
      const top = Math.round(ratio * camera.screenY(positions[2 * i + 1]!) - stamp.side / 2);
      if (left < 0 || top < 0 || left + stamp.side > width || top + stamp.side > height) continue;
      this.blendOne(data, stamp, left, top, 3 * styles[4 * i]!, styles[4 * i + 2]!);
    }
  }

  private blendOne(data: Uint8Array, { side, covered }: Stamp, left: number, top: number, color: number, opacity: number): void {
    const { colors } = this;
    const { width } = this.canvas;
    const [red, green, blue] = [colors[color]!, colors[color + 1]!, colors[color + 2]!];
    for (let y = 0, k = 0; y < side; y++) {
      let at = 4 * ((top + y) * width + left);
      for (let x = 0; x < side; x++, k++, at += 4) {
        const cover = covered[k]!;
        if (cover === 0) continue;
        // Divided by 255 with a multiplication and a shift.
        const alpha = (cover * opacity * 257 + 32_768) >> 16;
        const part = alpha * 257;
        const [r, g, b, a] = [data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!];
        data[at] = r + (((red - r) * part + 32_768) >> 16);
        data[at + 1] = g + (((green - g) * part + 32_768) >> 16);
        data[at + 2] = b + (((blue - b) * part + 32_768) >> 16);
        data[at + 3] = a + (((255 - a) * part + 32_768) >> 16);
      }
    }
  }

  private prepareStamps(radius: number): void {
    const device = radius * this.ratio;
    const withShapes = radius >= MIN_SHAPE_RADIUS;
    const key = `${device} ${withShapes}`;
    if (key === this.stampKey) return;
    this.stampKey = key;
    this.stamps = SHAPES.slice(0, withShapes ? SHAPES.length : 1).map((shape) => {
      const side = 2 * Math.ceil((withShapes ? 1.4 : 1) * device + 0.5);
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = side;
      const context = canvas.getContext("2d", { willReadFrequently: true })!;
      context.translate(side / 2, side / 2);
      context.scale(device, device);
      context.fill(new Path2D(shapePath(shape)));
      const { data } = context.getImageData(0, 0, side, side);
      return { side, covered: Uint8Array.from({ length: side * side }, (_, k) => data[4 * k + 3]!) };
    });
  }

  destroy(): void {
    this.canvas.remove();
  }
}

/** An ImageData holds colors that are not multiplied by their opacity. */
function divideByAlpha(data: Uint8Array): void {
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3]!;
    if (alpha === 0 || alpha === 255) continue;
    const factor = 255 / alpha;
    data[at] = Math.min(255, factor * data[at]!);
    data[at + 1] = Math.min(255, factor * data[at + 1]!);
    data[at + 2] = Math.min(255, factor * data[at + 2]!);
  }
}
