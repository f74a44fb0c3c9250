import { describe, expect, it } from "vitest";
import { randomNumbers } from "../dev/fake";
import { dropTarget, Grid, rowsInPolygon } from "../src/plot/grid";

const random = randomNumbers(3);
const n = 500;
const positions = Float32Array.from({ length: 2 * n }, () => 2 * random() - 1);
const grid = new Grid(positions);

function bySearch(x: number, y: number, within: number, accept: (row: number) => boolean): number | null {
  let best: number | null = null;
  let least = within;
  for (let i = 0; i < n; i++) {
    const d = Math.hypot(positions[2 * i]! - x, positions[2 * i + 1]! - y);
    if (accept(i) && d <= least && (best === null || d < least)) [best, least] = [i, d];
  }
  return best;
}

describe("Grid", () => {
  it("finds the nearest row, as a search of all rows does", () => {
    for (let trial = 0; trial < 300; trial++) {
      const [x, y] = [3 * random() - 1.5, 3 * random() - 1.5];
      const within = trial % 3 === 0 ? 0.03 : trial % 3 === 1 ? 0.4 : 10;
      const accept = (row: number): boolean => row % 4 !== trial % 4;
      expect(grid.nearest(x, y, within, accept)).toBe(bySearch(x, y, within, accept));
    }
  });

  it("copes with no rows, with one, and with all rows at one place", () => {
    expect(new Grid(new Float32Array(0)).nearest(0, 0, 1)).toBeNull();
    expect(new Grid(Float32Array.of(0.5, 0.5)).nearest(0, 0, 1)).toBe(0);
    expect(new Grid(new Float32Array(40).fill(0.25)).nearest(0.2, 0.2, 1)).toBe(0);
    expect(new Grid(Float32Array.of(0.5, 0.5)).toward(0, 1, 0)).toBeNull();
  });

  it("finds the nearest row in a direction", () => {
    const cross = new Grid(Float32Array.of(0, 0, 0.3, 0.05, 0.2, 0.19, -0.5, 0, 0, -0.9));
    expect(cross.toward(0, 1, 0)).toBe(1);
    expect(cross.toward(0, -1, 0)).toBe(3);
    expect(cross.toward(0, 0, -1)).toBe(4);
    expect(cross.toward(3, -1, 0)).toBeNull();
  });

  it("finds the rows in a lasso", () => {
    const lasso = [-0.5, -0.5, 0.5, -0.5, 0, 0.6];
    const inside = rowsInPolygon(grid, positions, lasso);
    const expected = Array.from({ length: n }, (_, i) => i).filter((i) => {
      const [x, y] = [positions[2 * i]!, positions[2 * i + 1]!];
      return y >= -0.5 && Math.abs(x) <= (0.5 * (0.6 - y)) / 1.1;
    });
    expect(inside).toEqual(expected);
    expect(rowsInPolygon(grid, positions, [0, 0, 1, 1])).toEqual([]);
  });
});

describe("the row onto which others are dropped", () => {
  const places = Float32Array.of(0, 0, 0.05, 0, 0.5, 0.5);
  const small = new Grid(places);

  it("is the nearest one that is not moved itself", () => {
    expect(dropTarget(small, places, new Set([0]), 0.01, 0, 0.08)).toEqual([1, places[2], 0]);
    expect(dropTarget(small, places, new Set([2]), 0.01, 0, 0.08)).toEqual([0, 0, 0]);
  });

  it("is none where nothing is nearer than eps", () => {
    expect(dropTarget(small, places, new Set([0]), -0.5, 0, 0.08)).toBeNull();
    expect(dropTarget(small, places, new Set([0, 1]), 0, 0, 0.08)).toBeNull();
    expect(dropTarget(small, places, new Set([0, 1]), 0.5, 0, 0.5)).toBeNull();
  });
});
