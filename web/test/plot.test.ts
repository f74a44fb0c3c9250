import { describe, expect, it, vi } from "vitest";
import type { Action } from "../src/protocol";
import { Camera } from "../src/plot/camera";
import { carry, drop, placeAround } from "../src/plot/row-actions";
import { Drawn } from "../src/plot/drawn";
import { medianPlace, sampleGroups } from "../src/plot/labels";
import type { MapView } from "../src/plot/map";
import { visibleLinks } from "../src/plot/overlay";
import { colorIndex, DARK_COLORS, LIGHT_COLORS, shapeIndex, SHAPES, shapePath } from "../src/plot/palette";
import { pointStyles } from "../src/plot/points";
import type { Scene } from "../src/plot/scene";

describe("colors and shapes", () => {
  it("tell 64 groups apart, and the shape changes with every group", () => {
    const looks = Array.from({ length: 64 }, (_, group) => `${colorIndex(group)} ${shapeIndex(group)}`);
    expect(new Set(looks).size).toBe(64);
    for (let group = 1; group < 64; group++) expect(shapeIndex(group)).not.toBe(shapeIndex(group - 1));
    expect(new Set(SHAPES.map(shapePath)).size).toBe(8);
    expect([LIGHT_COLORS.length, DARK_COLORS.length]).toEqual([8, 8]);
  });

  it("are gray and round without a group, and fainter with less confidence", () => {
    const styles = pointStyles(Uint16Array.of(9, 65535), Uint8Array.of(255, 0), new Uint8Array(8));
    expect([...styles.slice(0, 3)]).toEqual([1, 2, 255]);
    expect([...styles.slice(4, 7)]).toEqual([8, 0, 63]);
  });
});

describe("Camera", () => {
  it("keeps the place under the pointer when it zooms", () => {
    const camera = new Camera();
    camera.resize(800, 600);
    camera.fit();
    const before = camera.toWorld(123, 456);
    camera.zoomAt(123, 456, 3);
    const after = camera.toWorld(123, 456);
    expect(after.x).toBeCloseTo(before.x, 12);
    expect(after.y).toBeCloseTo(before.y, 12);
    expect([camera.screenX(after.x), camera.screenY(after.y)].map(Math.round)).toEqual([123, 456]);
  });

  it("shows the box, and rows that were dropped around it", () => {
    const camera = new Camera();
    camera.resize(800, 600);
    camera.fit(Float32Array.of(0, 0, 0.5, -0.5));
    expect([camera.x, camera.y, camera.zoom]).toEqual([0, 0, 1]);
    camera.fit(Float32Array.of(0, 0, 3, -2.5));
    const x = camera.screenX(3);
    const y = camera.screenY(-2.5);
    expect(x).toBeLessThan(800);
    expect(y).toBeLessThan(600);
    expect(Math.min(camera.screenX(-1), camera.screenY(1))).toBeGreaterThan(0);
  });

  it("keeps its zoom when the element gets another size", () => {
    const camera = new Camera();
    camera.resize(800, 600);
    camera.fit();
    camera.zoomAt(400, 300, 2);
    camera.resize(400, 300);
    expect(camera.zoom).toBeCloseTo(2, 12);
  });
});

describe("Drawn", () => {
  it("puts pins and held rows above the view, and lets them go again", () => {
    const drawn = new Drawn();
    drawn.setBase(Float32Array.of(0, 0, 0.5, 0.5), false, 0);
    drawn.setPins([[1, -0.25, 0.75]], false, 0);
    drawn.held.set(0, [1, 1]);
    drawn.aim(false, 0);
    expect([...drawn.positions]).toEqual([1, 1, -0.25, 0.75]);
    drawn.held.clear();
    drawn.setPins([], false, 0);
    expect([...drawn.positions]).toEqual([0, 0, 0.5, 0.5]);
  });

  it("goes from one view to another in steps, and searches where rows are drawn", () => {
    const drawn = new Drawn();
    drawn.setBase(Float32Array.of(0, 0), false, 0);
    drawn.setBase(Float32Array.of(1, 0), true, 100);
    expect(drawn.isMoving).toBe(true);
    drawn.step(325);
    expect(drawn.positions[0]).toBeCloseTo(0.5, 6);
    expect(drawn.grid.nearest(0.5, 0, 0.01)).toBe(0);
    drawn.step(1_000);
    expect([drawn.positions[0], drawn.isMoving, drawn.step(1_001)]).toEqual([1, false, false]);
    expect(drawn.grid.nearest(1, 0, 0.01)).toBe(0);
  });
});

describe("names of groups", () => {
  it("stand at the median of their rows", () => {
    const samples = sampleGroups(Uint16Array.of(0, 0, 0, 65535, 2));
    expect([...samples]).toEqual([
      [0, [0, 1, 2]],
      [2, [4]],
    ]);
    expect(medianPlace([0, 1, 2], Float32Array.of(0, 0, 1, 2, 100, 1))).toEqual({ x: 1, y: 1 });
  });

  it("take a few hundred rows of a large group", () => {
    const [sample] = sampleGroups(new Uint16Array(100_000)).values();
    expect(sample!.length).toBeGreaterThan(200);
    expect(sample!.length).toBeLessThan(400);
    expect(sample!.at(-1)).toBeGreaterThan(99_000);
  });
});

describe("links on the map", () => {
  const link = (a: number, b: number, source: string) => ({ a, b, source, together: true });
  const scene = (links: unknown[], selection: number[], hovered: number | null = null) =>
    ({ store: { state: { links }, selection, hovered } }) as unknown as Scene;

  it("are all shown if they are few, without those of pins", () => {
    expect(visibleLinks(scene([link(0, 1, "drawn"), link(2, 3, "pin")], []))).toHaveLength(1);
  });

  it("are those of the rows that are looked at if they are many", () => {
    const many = Array.from({ length: 100 }, (_, i) => link(i, i + 1, "file"));
    expect(visibleLinks(scene(many, []))).toHaveLength(0);
    expect(visibleLinks(scene([...many, link(5, 50, "pin")], [5], 90))).toHaveLength(5);
  });
});

function fakeMap(answer: (action: Action) => unknown) {
  const drawn = new Drawn();
  drawn.setBase(Float32Array.of(0, 0, 0.5, 0.5, 0.52, 0.5), false, 0);
  const acted: Action[] = [];
  const store = {
    state: { eps: 0.08, revision: 1 },
    status: "open",
    act: async (action: Action) => {
      acted.push(action);
      return answer(action);
    },
    subscribe: () => () => {},
  };
  const hold = vi.fn();
  return { map: { drawn, store, hold, redraw: () => {}, ghost: null } as unknown as MapView, acted, hold };
}

describe("a drop", () => {
  it("says onto which row, and lets go of the rows when the state is there", async () => {
    const { map, acted, hold } = fakeMap(() => ({ type: "done", revision: 1 }));
    carry(map, [0], 0.49, 0.5);
    await drop(map);
    expect(acted).toEqual([{ do: "move", rows: [0], x: 0.49, y: 0.5, onto: [1, 0.5, 0.5] }]);
    expect(hold.mock.calls).toEqual([[new Map([[0, [0.49, 0.5]]])], [null, [0]]]);
    expect(map.ghost).toBeNull();
  });

  it("stays where it was let go, also outside of the box of the view", async () => {
    const { map, acted } = fakeMap(() => ({ type: "done", revision: 1 }));
    carry(map, [0], 1.4, -1.2);
    await drop(map);
    expect(acted).toEqual([{ do: "move", rows: [0], x: 1.4, y: -1.2, onto: null }]);
  });

  it("is taken back when it is refused or not answered", async () => {
    for (const answer of [() => ({ type: "refused" }), () => Promise.reject(new Error("lost"))]) {
      const { map, acted, hold } = fakeMap(answer);
      carry(map, [0, 1], 5, -0.5);
      expect(map.ghost).toMatchObject({ x: 4, y: -0.5 });
      await drop(map);
      expect(acted).toEqual([{ do: "move", rows: [0, 1], x: 4, y: -0.5, onto: null }]);
      expect(hold).toHaveBeenLastCalledWith(null, [0, 1]);
    }
  });

  it("lays several rows on a spiral within 0.4 eps, one row at the place itself", () => {
    expect([...placeAround([7], 0.1, 0.2, 0.08)]).toEqual([[7, [0.1, 0.2]]]);
    const places = [...placeAround([3, 4, 5, 6], 0, 0, 0.08).values()];
    expect(places[0]).toEqual([0, 0]);
    for (const [x, y] of places) expect(Math.hypot(x, y)).toBeLessThanOrEqual(0.4 * 0.08);
    expect(Math.hypot(...places[1]!)).toBeCloseTo(0.4 * 0.08 * 0.5, 12);
  });
});
