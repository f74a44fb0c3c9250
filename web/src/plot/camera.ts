// Which part of the world is on the screen. World positions are in [-1, 1], y upwards; screen pixels are of the element.

export interface Point {
  x: number;
  y: number;
}

const MARGIN = 1.12;
const MAX_ZOOM = 400;

export class Camera {
  /** World position in the middle of the element. */
  x = 0;
  y = 0;
  /** Pixels per world unit. */
  scale = 1;
  width = 1;
  height = 1;

  /** Pixels per world unit at which the whole box [-1, 1] x [-1, 1] is shown. */
  get fitScale(): number {
    return Math.min(this.width, this.height) / (2 * MARGIN);
  }

  get zoom(): number {
    return this.scale / this.fitScale;
  }

  /** Take the size of the element; the zoom stays. */
  resize(width: number, height: number): void {
    const zoom = this.width > 1 ? this.zoom : 1;
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.scale = zoom * this.fitScale;
  }

  fit(): void {
    this.x = 0;
    this.y = 0;
    this.scale = this.fitScale;
  }

  screenX(x: number): number {
    return this.width / 2 + (x - this.x) * this.scale;
  }

  screenY(y: number): number {
    return this.height / 2 - (y - this.y) * this.scale;
  }

  toWorld(screenX: number, screenY: number): Point {
    return {
      x: this.x + (screenX - this.width / 2) / this.scale,
      y: this.y - (screenY - this.height / 2) / this.scale,
    };
  }

  panBy(dx: number, dy: number): void {
    this.x = clamp(this.x - dx / this.scale, -2, 2);
    this.y = clamp(this.y + dy / this.scale, -2, 2);
  }

  /** Zoom by a factor; the world under the given pixel stays where it is. */
  zoomAt(screenX: number, screenY: number, factor: number): void {
    const under = this.toWorld(screenX, screenY);
    this.scale = clamp(this.scale * factor, 0.4 * this.fitScale, MAX_ZOOM * this.fitScale);
    this.x = clamp(under.x - (screenX - this.width / 2) / this.scale, -2, 2);
    this.y = clamp(under.y + (screenY - this.height / 2) / this.scale, -2, 2);
  }

  /** Show a box of the world with some room around it. */
  show(x0: number, y0: number, x1: number, y1: number): void {
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    const wanted = Math.min(this.width / Math.max(x1 - x0, 1e-9), this.height / Math.max(y1 - y0, 1e-9)) / 1.6;
    this.scale = clamp(wanted, this.fitScale, 12 * this.fitScale);
  }
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
