// The key of a group: its color and its shape, as the map draws them.

import { colorIndex, DARK_COLORS, groupShape, LIGHT_COLORS, shapePath } from "../plot/palette";
import { makeSvg } from "./element";
import type { Theme } from "./theme";

/** The colors of groups as variables of the root, so that a change of theme redraws nothing. */
export function setGroupColors(root: HTMLElement, theme: Theme): void {
  const colors = theme === "dark" ? DARK_COLORS : LIGHT_COLORS;
  colors.forEach((color, i) => root.style.setProperty(`--ml-color-${i}`, color));
}

/** The color of a group, for a style. */
export function groupVariable(group: number): string {
  return `var(--ml-color-${colorIndex(group)})`;
}

export function drawSymbol(group: number): SVGSVGElement {
  const path = makeSvg("path", { d: shapePath(groupShape(group)) });
  path.style.fill = groupVariable(group);
  return makeSvg("svg", { viewBox: "-1.5 -1.5 3 3", class: "ml-symbol", "aria-hidden": "true" }, path);
}
