// Which part of the world is on the screen. Views lie in the box [-1, 1], rows may be dropped around it; y upwards;
// screen pixels are of the element.

export interface Point {
  x: number;
  y: number;
}

const MARGIN = 1.12;
const MIN_ZOOM = 0.2;
const MAX_ZOOM = 400;
/** How far from the middle a row may be dropped, and the map moved. */
export const WORLD_LIMIT = 4;

/** Nearest place to which a row may go. */
export function insideWorld(x: number, y: number): Point {
  return { x: clamp(x, -WORLD_LIMIT, WORLD_LIMIT), y: clamp(y, -WORLD_LIMIT, WORLD_LIMIT) };
}

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

  /** Show the box, and what of `positions` (x0, y0, x1, y1, ...) lies around it. */
  fit(positions: Float32Array = new Float32Array(0)): void {
    let [x0, y0, x1, y1] = [-1, -1, 1, 1];
    for (let i = 0; i < positions.length; i += 2) {
      x0 = Math.min(x0, positions[i]!);
      x1 = Math.max(x1, positions[i]!);
      y0 = Math.min(y0, positions[i + 1]!);
      y1 = Math.max(y1, positions[i + 1]!);
    }
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.scale = Math.min(this.width / (x1 - x0), this.height / (y1 - y0)) / MARGIN;
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
    this.moveTo(this.x - dx / this.scale, this.y + dy / this.scale);
  }

  /** Zoom by a factor; the world under the given pixel stays where it is. */
  zoomAt(screenX: number, screenY: number, factor: number): void {
    const under = this.toWorld(screenX, screenY);
    this.scale = clamp(this.scale * factor, MIN_ZOOM * this.fitScale, MAX_ZOOM * this.fitScale);
    this.moveTo(under.x - (screenX - this.width / 2) / this.scale, under.y + (screenY - this.height / 2) / this.scale);
  }

  private moveTo(x: number, y: number): void {
    Object.assign(this, insideWorld(x, y));
  }

  /** Show a box of the world with some room around it. */
  show(x0: number, y0: number, x1: number, y1: number): void {
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    const exact = Math.min(this.width / Math.max(x1 - x0, 1e-9), this.height / Math.max(y1 - y0, 1e-9));
    // Not farther away than the whole box needs, unless rows lie around it.
    this.scale = clamp(exact / 1.6, Math.min(this.fitScale, exact / MARGIN), 12 * this.fitScale);
  }
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
