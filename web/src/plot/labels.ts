// Where the names of groups stand: at the median of some of their rows.

import { NO_GROUP } from "../protocol";

const MAX_SAMPLE = 201;

/** Up to MAX_SAMPLE rows of every group, spread over all of its rows. */
export function sampleGroups(labels: Uint16Array): Map<number, number[]> {
  const sizes = new Map<number, number>();
  for (const group of labels) if (group !== NO_GROUP) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const steps = new Map([...sizes].map(([group, size]) => [group, Math.max(1, Math.floor(size / MAX_SAMPLE))]));
  const seen = new Map<number, number>();
  const samples = new Map<number, number[]>([...sizes.keys()].map((group) => [group, []]));
  labels.forEach((group, row) => {
    if (group === NO_GROUP) return;
    const place = seen.get(group) ?? 0;
    seen.set(group, place + 1);
    if (place % steps.get(group)! === 0) samples.get(group)!.push(row);
  });
  return samples;
}

export function medianPlace(rows: readonly number[], positions: Float32Array): { x: number; y: number } {
  const middle = (offset: number): number => {
    const values = Float32Array.from(rows, (row) => positions[2 * row + offset]!).sort();
    return values[Math.floor(values.length / 2)]!;
  };
  return { x: middle(0), y: middle(1) };
}
