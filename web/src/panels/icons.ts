// Line drawings for buttons; each button also has a name in words.

import { makeSvg } from "./element";

const PATHS = {
  pan: "M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3",
  lasso: "M12 4c5 0 9 2.4 9 5.5S17 15 12 15 3 12.6 3 9.5 7 4 12 4M7 14c-1.5 1-1.5 3 0 3.5S9 19 8 21",
  undo: "M9 5 4 10l5 5M4 10h10a6 6 0 0 1 0 12h-3",
  redo: "M15 5l5 5-5 5M20 10H10a6 6 0 0 0 0 12h3",
  sun: "M12 7.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5",
  help: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5M12 2.5a9.5 9.5 0 1 1 0 19 9.5 9.5 0 0 1 0-19",
} as const;

export type IconName = keyof typeof PATHS;

export function drawIcon(name: IconName): SVGSVGElement {
  const path = makeSvg("path", {
    d: PATHS[name],
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 1.8,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  });
  return makeSvg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, path);
}
