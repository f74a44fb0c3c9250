// What pointers and keys do with rows: link two, drop some, let pins go.

import type { MapView } from "./map";
import { insideWorld } from "./camera";
import { dropTarget } from "./grid";

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const DROP_RADIUS = 0.4;

/** Places of dropped rows: a small spiral, as the server lays it. */
export function placeAround(rows: readonly number[], x: number, y: number, eps: number): Map<number, [number, number]> {
  return new Map(
    rows.map((row, place) => {
      const radius = rows.length === 1 ? 0 : DROP_RADIUS * eps * Math.sqrt(place / rows.length);
      return [row, [x + radius * Math.cos(place * GOLDEN_ANGLE), y + radius * Math.sin(place * GOLDEN_ANGLE)]];
    }),
  );
}

/** Carry rows to a place of the world, without letting go; they go no farther than the edge of the world. */
export function carry(map: MapView, rows: readonly number[], x: number, y: number): void {
  const eps = map.store.state?.eps ?? 0;
  const place = insideWorld(x, y);
  const onto = dropTarget(map.drawn.grid, map.drawn.positions, new Set(rows), place.x, place.y, eps);
  map.ghost = { rows, ...place, onto };
  map.redraw();
}

/** Let go of the carried rows; they stay there unless the server refuses. */
export async function drop(map: MapView): Promise<void> {
  const { ghost, store } = map;
  map.ghost = null;
  map.redraw();
  if (!ghost) return;
  const { rows, x, y, onto } = ghost;
  map.hold(placeAround(rows, x, y, store.state?.eps ?? 0));
  try {
    const answer = await store.act({ do: "move", rows: [...rows], x, y, onto });
    if (answer.type === "done") await reached(map, answer.revision);
  } catch {
    // The store has made it the notice.
  } finally {
    map.hold(null, rows);
  }
}

/** Wait for the state that an acknowledgment announced. */
function reached(map: MapView, revision: number): Promise<void> {
  const { store } = map;
  return new Promise((resolve) => {
    const isThere = (): boolean => (store.state?.revision ?? 0) >= revision || store.status !== "open";
    if (isThere()) {
      resolve();
      return;
    }
    const stop = store.subscribe(["state", "connection"], () => {
      if (!isThere()) return;
      stop();
      resolve();
    });
  });
}

export function link(map: MapView, a: number, b: number, together: boolean): void {
  if (a === b) return;
  void map.store.act({ do: "link", a, b, together }).catch(() => {});
}

export function unpin(map: MapView, rows: readonly number[]): void {
  const pinned = new Set(map.store.state?.pins.map(([row]) => row));
  const free = rows.filter((row) => pinned.has(row));
  if (free.length) void map.store.act({ do: "unpin", rows: free }).catch(() => {});
}
