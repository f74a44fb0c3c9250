// Where rows are drawn: at their place in the view, at their pin, or where they were just dropped.

import { Grid } from "./grid";

const DURATION = 450;

export class Drawn {
  positions: Float32Array = new Float32Array(0);
  /** Rows that were dropped and are not yet acknowledged. */
  readonly held = new Map<number, readonly [number, number]>();
  private base: Float32Array = new Float32Array(0);
  private pins: readonly (readonly [number, number, number])[] = [];
  private from: Float32Array | null = null;
  private to: Float32Array | null = null;
  private startedAt = 0;
  private index: Grid | null = null;

  get n(): number {
    return this.positions.length / 2;
  }

  /** Search of rows at the places where they are drawn now. */
  get grid(): Grid {
    return (this.index ??= new Grid(this.positions));
  }

  get isMoving(): boolean {
    return this.to !== null;
  }

  /** Where rows are, or will be at the end of a transition. */
  get target(): Float32Array {
    return this.to ?? this.positions;
  }

  setBase(base: Float32Array, animated: boolean, now: number): void {
    this.base = base;
    this.aim(animated, now);
  }

  setPins(pins: readonly (readonly [number, number, number])[], animated: boolean, now: number): void {
    this.pins = pins;
    this.aim(animated, now);
  }

  /** Take changed places as the new aim, at once or by a transition. */
  aim(animated: boolean, now: number): void {
    const target = this.base.slice();
    for (const [row, x, y] of this.pins) {
      target[2 * row] = x;
      target[2 * row + 1] = y;
    }
    for (const [row, [x, y]] of this.held) {
      target[2 * row] = x;
      target[2 * row + 1] = y;
    }
    if (animated && this.positions.length === target.length && !isSame(this.to ?? this.positions, target)) {
      this.from = this.positions.slice();
      this.to = target;
      this.startedAt = now;
    } else if (!animated || this.positions.length !== target.length) {
      this.from = this.to = null;
      this.positions = target;
      this.index = null;
    }
  }

  /** Go on with a transition; false if there is none. */
  step(now: number): boolean {
    const { from, to } = this;
    if (!from || !to) return false;
    const t = Math.min(1, (now - this.startedAt) / DURATION);
    if (t >= 1) {
      this.positions = to;
      this.from = this.to = null;
    } else {
      const eased = t < 0.5 ? 4 * t ** 3 : 1 - (-2 * t + 2) ** 3 / 2;
      for (let i = 0; i < to.length; i++) this.positions[i] = from[i]! + eased * (to[i]! - from[i]!);
    }
    this.index = null;
    return true;
  }
}

function isSame(a: Float32Array, b: Float32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
