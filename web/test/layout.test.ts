import { describe, expect, it } from "vitest";
import { randomNumbers } from "../dev/fake";
import { groupCenters } from "../src/layout/centers";
import { CONSTANTS, Springs } from "../src/layout/forces";
import { LayoutRun } from "../src/layout/run";

function randomPositions(n: number, seed = 1, half = 400): Float32Array {
  const random = randomNumbers(seed);
  return Float32Array.from({ length: 2 * n }, () => half * (2 * random() - 1));
}

function randomEdges(n: number, m: number, seed = 2): Uint32Array {
  const random = randomNumbers(seed);
  const edges: number[] = [];
  while (edges.length < 2 * m) {
    const [i, j] = [Math.floor(n * random()), Math.floor(n * random())];
    if (i !== j) edges.push(i, j);
  }
  return Uint32Array.from(edges);
}

/** Repulsion and springs written down pair by pair. */
function forcesByPairs(positions: Float32Array, edges: Uint32Array): number[][] {
  const n = positions.length / 2;
  const force = Array.from({ length: n }, () => [0, 0]);
  const add = (i: number, j: number, size: (d: number) => number): void => {
    const dx = positions[2 * i]! - positions[2 * j]!;
    const dy = positions[2 * i + 1]! - positions[2 * j + 1]!;
    const d = Math.hypot(dx, dy);
    force[i]![0]! += (size(d) * dx) / d;
    force[i]![1]! += (size(d) * dy) / d;
  };
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j) add(i, j, (d) => 1 / d ** 2);
  for (let e = 0; e < edges.length; e += 2) {
    const spring = (d: number): number => -2e-5 * (d - 50);
    add(edges[e]!, edges[e + 1]!, spring);
    add(edges[e + 1]!, edges[e]!, spring);
  }
  return force;
}

describe("forces of the spring layout", () => {
  it("equal those that are computed pair by pair", () => {
    const positions = randomPositions(60);
    const edges = randomEdges(60, 90);
    const springs = new Springs(positions, edges, 500, { ...CONSTANTS, theta: 0 });
    springs.sumForces();
    forcesByPairs(positions, edges).forEach(([fx, fy], i) => {
      expect(springs.fx[i]).toBeCloseTo(fx!, 12);
      expect(springs.fy[i]).toBeCloseTo(fy!, 12);
    });
  });

  it("sum to zero when every pair is counted, also with rows at one place", () => {
    const positions = randomPositions(80);
    positions.copyWithin(0, 10, 12);
    positions.copyWithin(2, 10, 12);
    const springs = new Springs(positions, randomEdges(80, 100), 500, { ...CONSTANTS, theta: 0 });
    springs.sumForces();
    const largest = Math.max(...springs.fx.map(Math.abs));
    expect(Math.abs(springs.fx.reduce((a, b) => a + b, 0))).toBeLessThan(1e-12 * largest * 80);
    expect(Math.abs(springs.fy.reduce((a, b) => a + b, 0))).toBeLessThan(1e-12 * largest * 80);
  });

  it("are near the exact ones with the chapter's theta", () => {
    const positions = randomPositions(2_000);
    const [exact, fast] = [0, 0.9].map((theta) => {
      const springs = new Springs(positions, new Uint32Array(0), 500, { ...CONSTANTS, theta });
      springs.sumForces();
      return springs;
    });
    let [error, size] = [0, 0];
    for (let i = 0; i < 2_000; i++) {
      error += (exact!.fx[i]! - fast!.fx[i]!) ** 2 + (exact!.fy[i]! - fast!.fy[i]!) ** 2;
      size += exact!.fx[i]! ** 2 + exact!.fy[i]! ** 2;
    }
    expect(Math.sqrt(error / size)).toBeLessThan(0.03);
  });
});

function settle(springs: Springs, steps = 3_000): void {
  for (let i = 0; i < steps; i++) springs.advance();
}

function distance(springs: Springs): number {
  return Math.hypot(springs.x[0]! - springs.x[1]!, springs.y[0]! - springs.y[1]!);
}

describe("a layout at rest", () => {
  it("has two linked rows where spring and repulsion balance: c (D - l) = g / D^2", () => {
    const springs = new Springs(Float32Array.of(-5, 0, 90, 40), Uint32Array.of(0, 1), 500);
    settle(springs);
    const d = distance(springs);
    expect(2e-5 * (d - 50)).toBeCloseTo(1 / d ** 2, 9);
    expect(d).toBeGreaterThan(50);
  });

  it("has them at the spring's length without repulsion", () => {
    const springs = new Springs(Float32Array.of(-5, 0, 90, 40), Uint32Array.of(0, 1), 500, { ...CONSTANTS, repulsion: 0 });
    settle(springs);
    expect(distance(springs)).toBeCloseTo(50, 6);
  });

  it("leaves pinned rows bit for bit where they are", () => {
    const positions = randomPositions(50);
    const springs = new Springs(positions, randomEdges(50, 80), 500);
    const pins: [number, number, number][] = [
      [3, 100 / 3, -1 / 7],
      [9, -250.1, 33.3],
    ];
    springs.pin(pins);
    settle(springs, 100);
    for (const [row, x, y] of pins) expect([springs.x[row], springs.y[row]]).toEqual([x, y]);
    expect(springs.x[0]).not.toBe(positions[0]);
  });

  it("keeps rows without an edge in the box", () => {
    const springs = new Springs(randomPositions(20, 1, 10), new Uint32Array(0), 100);
    settle(springs);
    for (let i = 0; i < 20; i++) expect(Math.max(Math.abs(springs.x[i]!), Math.abs(springs.y[i]!))).toBeLessThanOrEqual(100);
  });

  it("is stable for a row with very many edges", () => {
    const edges = Uint32Array.from({ length: 2_000 }, (_, i) => (i % 2 ? (i + 1) / 2 : 0));
    const springs = new Springs(randomPositions(1_001), edges, 2_000, { ...CONSTANTS, repulsion: 0 });
    settle(springs, 4_000);
    const d = Math.hypot(springs.x[0]! - springs.x[1]!, springs.y[0]! - springs.y[1]!);
    expect(d).toBeCloseTo(50, 0);
  });
});

describe("centers of groups", () => {
  it("are the means of the pinned rows, with springs to every row of the group", () => {
    const labels = Uint16Array.of(0, 1, 0, 1, 65535, 2);
    const centers = groupCenters(
      [
        [0, 0, 0],
        [2, 1, 0.5],
        [3, -1, -1],
        [4, 9, 9],
      ],
      labels,
    );
    expect(centers.map(({ x, y, rows }) => [x, y, [...rows]])).toEqual([
      [0.5, 0.25, [0, 2]],
      [-1, -1, [1, 3]],
    ]);
  });

  it("pull the rows of two groups apart", () => {
    const n = 60;
    const labels = Uint16Array.from({ length: n }, (_, i) => i % 2);
    const run = new LayoutRun(randomPositions(n, 4, 0.3), new Uint32Array(0));
    run.know(
      [
        [0, -0.7, 0],
        [1, 0.7, 0],
      ],
      labels,
    );
    let steps = 0;
    while (!run.isAtRest && steps++ < 2_000) run.step();
    const positions = run.write(new Float32Array(2 * n));
    const wrong = labels.filter((label, i) => positions[2 * i]! < 0 !== (label === 0));
    expect(wrong).toHaveLength(0);
    expect(positions.slice(0, 2)).toEqual(Float32Array.of(-0.7, 0));
    expect(steps).toBeLessThan(400);
  });
});
