// Where the names of groups stand: at the median of some of their rows.

import { NO_GROUP } from "../protocol";

const MAX_SAMPLE = 201;

/** Up to MAX_SAMPLE rows of every group, spread over all of its rows. */
export function sampleGroups(labels: Uint16Array): Map<number, number[]> {
  const sizes = new Uint32Array(NO_GROUP + 1);
  for (let row = 0; row < labels.length; row++) sizes[labels[row]!]!++;
  const steps = sizes.map((size) => Math.max(1, Math.floor(size / MAX_SAMPLE)));
  const seen = new Uint32Array(NO_GROUP + 1);
  const samples = new Map<number, number[]>();
  for (let row = 0; row < labels.length; row++) {
    const group = labels[row]!;
    const place = seen[group]!++;
    if (group === NO_GROUP || place % steps[group]! !== 0) continue;
    const sample = samples.get(group);
    if (sample) sample.push(row);
    else samples.set(group, [row]);
  }
  return samples;
}

export function medianPlace(rows: readonly number[], positions: Float32Array): { x: number; y: number } {
  const middle = (offset: number): number => {
    const values = Float32Array.from(rows, (row) => positions[2 * row + offset]!).sort();
    return values[Math.floor(values.length / 2)]!;
  };
  return { x: middle(0), y: middle(1) };
}
