// Where selected rows go on the map when they are put into a group without dragging.

import { clamp, insideWorld, type Point as Place } from "../plot/camera";

type Pin = readonly [row: number, x: number, y: number];

// Rows of one move are spread over 0.4 radii around the place, so this still keeps them within one radius of a pin.
const BESIDE = 0.5;
// Farther from every pin than one radius and the spread of both.
const APART = 2.2;
const N_STEPS = 40;
const N_DIRECTIONS = 16;

/** Where a view draws its rows. */
const insideBox = ({ x, y }: Place): Place => ({ x: clamp(x, -1, 1), y: clamp(y, -1, 1) });

function nearest(place: Place, pins: readonly Pin[]): number {
  return Math.min(...pins.map(([, x, y]) => Math.hypot(place.x - x, place.y - y)), Infinity);
}

/** Mean position of some rows, `positions` being x0, y0, x1, y1, ... */
export function meanPlace(rows: readonly number[], positions: Float32Array): Place {
  let x = 0;
  let y = 0;
  for (const row of rows) {
    x += positions[2 * row]! / rows.length;
    y += positions[2 * row + 1]! / rows.length;
  }
  return { x, y };
}

/** The place nearest to `near` that no pin is close to: rows put there make a group of their own. */
export function freePlace(near: Place, pins: readonly Pin[], radius: number): Place {
  let best = insideBox(near);
  let bestGap = nearest(best, pins);
  for (let step = 1; step <= N_STEPS && bestGap < APART * radius; step++) {
    for (let i = 0; i < N_DIRECTIONS; i++) {
      const angle = (2 * Math.PI * i) / N_DIRECTIONS;
      const reach = (2 * step) / N_STEPS;
      const place = insideBox({ x: near.x + reach * Math.cos(angle), y: near.y + reach * Math.sin(angle) });
      const gap = nearest(place, pins);
      // All directions of one step are tried, so that the farthest of them is taken.
      if (gap > bestGap) [best, bestGap] = [place, gap];
    }
  }
  return best;
}

/** A place within one radius of a row that stands at `anchor`, in the direction where other pins are farthest. */
export function placeBeside(anchor: Place, others: readonly Pin[], radius: number): Place {
  let best: Place = anchor;
  let bestGap = -1;
  for (let i = 0; i < N_DIRECTIONS; i++) {
    const angle = (2 * Math.PI * i) / N_DIRECTIONS;
    const reach = BESIDE * radius;
    const place = insideWorld(anchor.x + reach * Math.cos(angle), anchor.y + reach * Math.sin(angle));
    const gap = nearest(place, others);
    if (gap > bestGap) [best, bestGap] = [place, gap];
  }
  return best;
}
