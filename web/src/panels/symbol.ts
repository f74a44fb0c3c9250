// The key of a group: its color and its shape, as the map draws them.

import { makeSvg } from "./element";

export const N_COLORS = 8;
/** Outlines in the box from 0 to 16, in the order of the map's shapes. */
const SHAPES = [
  "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2",
  "M3 3h10v10H3z",
  "M8 2l6.5 12h-13z",
  "M8 1l7 7-7 7-7-7z",
  "M8 14 1.5 2h13z",
  "M6 2h4v4h4v4h-4v4H6v-4H2V6h4z",
  "M4.5 2 8 5.5 11.5 2 14 4.5 10.5 8 14 11.5 11.5 14 8 10.5 4.5 14 2 11.5 5.5 8 2 4.5z",
  "M8 1l2 5h5l-4 3.5 1.5 5.5L8 11.5 3.5 15 5 9.5 1 6h5z",
];

export function drawSymbol(group: number): SVGSVGElement {
  const shape = (group + Math.floor(group / N_COLORS)) % SHAPES.length;
  return makeSvg(
    "svg",
    { viewBox: "0 0 16 16", class: `ml-symbol ml-color-${group % N_COLORS}`, "aria-hidden": "true" },
    makeSvg("path", { d: SHAPES[shape]!, fill: "currentColor" }),
  );
}
