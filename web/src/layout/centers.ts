// The hidden nodes of groups: each at the mean of the rows that a person placed, with springs to all rows of the group.

import { NO_GROUP } from "../protocol";
import type { Center } from "./forces";

export function groupCenters(pins: readonly (readonly [number, number, number])[], labels: Uint16Array): Center[] {
  const sums = new Map<number, { x: number; y: number; count: number }>();
  for (const [row, x, y] of pins) {
    const group = labels[row];
    if (group === undefined || group === NO_GROUP) continue;
    const sum = sums.get(group) ?? { x: 0, y: 0, count: 0 };
    sums.set(group, { x: sum.x + x, y: sum.y + y, count: sum.count + 1 });
  }
  const members = new Map([...sums.keys()].map((group): [number, number[]] => [group, []]));
  labels.forEach((group, row) => members.get(group)?.push(row));
  return [...sums].map(([group, { x, y, count }]) => ({
    x: x / count,
    y: y / count,
    rows: Uint32Array.from(members.get(group)!),
  }));
}
