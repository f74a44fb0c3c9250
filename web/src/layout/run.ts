// The life of a layout: heated by news, cooled by every step, at rest when nothing moves. Runs in the worker.

import { groupCenters } from "./centers";
import { CONSTANTS, halfSizeFor, Springs } from "./forces";

/** Share of alpha that every step takes; about 300 steps from 1 to the end. */
const COOLING = 0.0228;
const MIN_ALPHA = 1e-3;

export class LayoutRun {
  private readonly springs: Springs;
  private readonly unit: number;
  isAtRest = false;

  constructor(positions: Float32Array, edges: Uint32Array) {
    this.unit = halfSizeFor(positions.length / 2);
    this.springs = new Springs(
      positions.map((value) => value * this.unit),
      edges,
      this.unit,
    );
  }

  /** Take new pins and labels, and start to move again. */
  know(pins: readonly (readonly [number, number, number])[], labels: Uint16Array): void {
    const inPixels = pins.map(([row, x, y]): [number, number, number] => [row, x * this.unit, y * this.unit]);
    this.springs.pin(inPixels);
    // With one pin nothing is clustered, so there is nothing to pull.
    this.springs.setCenters(pins.length > 1 ? groupCenters(inPixels, labels) : []);
    this.springs.alpha = 1;
    this.isAtRest = false;
  }

  step(): void {
    const { springs } = this;
    const speed = springs.advance();
    springs.alpha *= 1 - COOLING;
    this.isAtRest = speed < CONSTANTS.minSpeed || springs.alpha < MIN_ALPHA;
  }

  write(positions: Float32Array): Float32Array {
    const { x, y } = this.springs;
    for (let i = 0; i < this.springs.n; i++) {
      positions[2 * i] = x[i]! / this.unit;
      positions[2 * i + 1] = y[i]! / this.unit;
    }
    return positions;
  }
}
