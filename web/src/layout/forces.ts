// The spring layout of desJardins, MacGlashan and Ferraioli: forces, and steps along them.
// Lengths are in the chapter's pixels, times in milliseconds. Plain arrays, so that it runs in a worker and in tests.

import { QuadTree } from "./quadtree";

export const CONSTANTS = {
  edgeStrength: 2e-5,
  groupStrength: 4e-5,
  length: 50,
  repulsion: 1,
  drag: 0.01,
  theta: 0.9,
  speedLimit: 1,
  timeStep: 50,
  minSpeed: 1e-3,
} as const;
export type Constants = { [name in keyof typeof CONSTANTS]: number };

export interface Center {
  x: number;
  y: number;
  rows: Uint32Array;
}

export class Springs {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly n: number;
  private readonly vx: Float64Array;
  private readonly vy: Float64Array;
  readonly fx: Float64Array;
  readonly fy: Float64Array;
  private readonly pinned: Uint8Array;
  /** Hidden fixed nodes, one per group with pins; they pull their rows and repel nothing. */
  private centers: readonly Center[] = [];
  private step = 0;
  /** From 1 down to 0: how much of a step is taken, so that the layout comes to rest. */
  alpha = 1;

  constructor(
    positions: Float32Array,
    private readonly edges: Uint32Array,
    private readonly halfSize: number,
    private readonly constants: Constants = CONSTANTS,
  ) {
    this.n = positions.length / 2;
    this.x = Float64Array.from({ length: this.n }, (_, i) => positions[2 * i]!);
    this.y = Float64Array.from({ length: this.n }, (_, i) => positions[2 * i + 1]!);
    this.vx = new Float64Array(this.n);
    this.vy = new Float64Array(this.n);
    this.fx = new Float64Array(this.n);
    this.fy = new Float64Array(this.n);
    this.pinned = new Uint8Array(this.n);
    this.chooseStep();
  }

  /** Hold rows at places, and let all others go. */
  pin(pins: Iterable<readonly [row: number, x: number, y: number]>): void {
    this.pinned.fill(0);
    for (const [row, x, y] of pins) {
      this.pinned[row] = 1;
      this.x[row] = x;
      this.y[row] = y;
      this.vx[row] = this.vy[row] = 0;
    }
  }

  setCenters(centers: readonly Center[]): void {
    this.centers = centers;
    this.chooseStep();
  }

  /** A step longer than the springs' own period would not be stable. */
  private chooseStep(): void {
    const strength = new Float64Array(this.n);
    for (const row of this.edges) strength[row]! += 2 * this.constants.edgeStrength;
    for (const { rows } of this.centers) for (const row of rows) strength[row]! += this.constants.groupStrength;
    const highest = strength.reduce((most, value) => Math.max(most, value), 0);
    this.step = Math.min(this.constants.timeStep, 1 / Math.sqrt(Math.max(highest, 1e-12)));
  }

  /** Compute the force on every row. */
  sumForces(): void {
    this.fx.fill(0);
    this.fy.fill(0);
    this.repel();
    this.pullEdges();
    this.pullToCenters();
  }

  private repel(): void {
    const { repulsion, theta } = this.constants;
    if (repulsion === 0) return;
    new QuadTree(this.x, this.y).addRepulsion(this.fx, this.fy, repulsion, theta);
  }

  private pullEdges(): void {
    const { x, y, fx, fy, edges } = this;
    const { edgeStrength, length } = this.constants;
    for (let e = 0; e < edges.length; e += 2) {
      const i = edges[e]!;
      const j = edges[e + 1]!;
      const dx = x[j]! - x[i]!;
      const dy = y[j]! - y[i]!;
      const distance = Math.hypot(dx, dy);
      if (distance === 0) continue;
      const force = (edgeStrength * (distance - length)) / distance;
      fx[i]! += force * dx;
      fy[i]! += force * dy;
      fx[j]! -= force * dx;
      fy[j]! -= force * dy;
    }
  }

  private pullToCenters(): void {
    const { x, y, fx, fy } = this;
    const { groupStrength, length } = this.constants;
    for (const center of this.centers) {
      for (const i of center.rows) {
        const dx = center.x - x[i]!;
        const dy = center.y - y[i]!;
        const distance = Math.hypot(dx, dy);
        if (distance === 0) continue;
        const force = (groupStrength * (distance - length)) / distance;
        fx[i]! += force * dx;
        fy[i]! += force * dy;
      }
    }
  }

  /** Take one step; returns the highest speed. */
  advance(): number {
    this.sumForces();
    const { x, y, vx, vy, fx, fy, pinned, halfSize } = this;
    const { drag, speedLimit } = this.constants;
    const dt = this.step * this.alpha;
    const kept = Math.exp(-drag * dt);
    let highest = 0;
    for (let i = 0; i < this.n; i++) {
      if (pinned[i]) continue;
      let sx = kept * vx[i]! + dt * fx[i]!;
      let sy = kept * vy[i]! + dt * fy[i]!;
      const speed = Math.hypot(sx, sy);
      if (speed > speedLimit) {
        sx *= speedLimit / speed;
        sy *= speedLimit / speed;
      }
      vx[i] = sx;
      vy[i] = sy;
      x[i] = Math.max(-halfSize, Math.min(halfSize, x[i]! + dt * sx));
      y[i] = Math.max(-halfSize, Math.min(halfSize, y[i]! + dt * sy));
      highest = Math.max(highest, Math.min(speed, speedLimit));
    }
    return highest;
  }
}

/** Half of the box's side in pixels: as dense as the chapter's canvas with a hundred rows. */
export function halfSizeFor(nRows: number): number {
  return Math.max(500, 50 * Math.sqrt(nRows));
}
