// Colors and shapes of groups. Color alone must not carry the meaning, so every group has a shape too.

/** The palette of Okabe and Ito for color-blind readers, its yellow darkened for a white background. */
export const LIGHT_COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B2A800"] as const;
/** The same hues, lighter, for a dark background; black becomes white. */
export const DARK_COLORS = ["#4FA8E0", "#FF8A3D", "#2FCFA0", "#E5A3C6", "#FFC34D", "#A5DAFF", "#FFFFFF", "#EDE25A"] as const;
const LIGHT_GRAY = "#8A8A8A";
const DARK_GRAY = "#8F98A1";

export const SHAPES = ["circle", "square", "triangle up", "diamond", "triangle down", "plus", "cross", "star"] as const;
export type Shape = (typeof SHAPES)[number];

/** Place of a group's color in the palette. */
export function colorIndex(group: number): number {
  return group % 8;
}

/** Place of a group's shape: with the color it tells 64 groups apart. */
export function shapeIndex(group: number): number {
  return (group + Math.floor(group / 8)) % 8;
}

export function groupColor(group: number | null, dark: boolean): string {
  if (group === null) return dark ? DARK_GRAY : LIGHT_GRAY;
  return (dark ? DARK_COLORS : LIGHT_COLORS)[colorIndex(group)]!;
}

export function groupShape(group: number | null): Shape {
  return group === null ? "circle" : SHAPES[shapeIndex(group)]!;
}

/** Palette as numbers from 0 to 1: eight colors, then the gray of rows without a group. */
export function paletteNumbers(dark: boolean): Float32Array {
  const colors = [...(dark ? DARK_COLORS : LIGHT_COLORS), dark ? DARK_GRAY : LIGHT_GRAY];
  return Float32Array.from(colors.flatMap((color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16) / 255)));
}

/** Outline of a shape as an SVG path around (0, 0), of about the area of a circle with radius 1. */
export function shapePath(shape: Shape): string {
  switch (shape) {
    case "circle":
      return "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z";
    case "square":
      return polygon([-0.88, -0.88], [0.88, -0.88], [0.88, 0.88], [-0.88, 0.88]);
    case "triangle up":
      return polygon([0, -1.25], [1.15, 0.8], [-1.15, 0.8]);
    case "diamond":
      return polygon([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]);
    case "triangle down":
      return polygon([0, 1.25], [1.15, -0.8], [-1.15, -0.8]);
    case "plus":
      return polygon(...PLUS);
    case "cross":
      return polygon(...PLUS.map(([x, y]): [number, number] => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]));
    case "star":
      return polygon(
        ...Array.from({ length: 10 }, (_, i): [number, number] => {
          const radius = i % 2 ? 0.62 : 1.35;
          return [radius * Math.sin((Math.PI * i) / 5), -radius * Math.cos((Math.PI * i) / 5)];
        }),
      );
  }
}

const ARM = 0.42;
const END = 1.2;
const PLUS: [number, number][] = [
  [-ARM, -END],
  [ARM, -END],
  [ARM, -ARM],
  [END, -ARM],
  [END, ARM],
  [ARM, ARM],
  [ARM, END],
  [-ARM, END],
  [-ARM, ARM],
  [-END, ARM],
  [-END, -ARM],
  [-ARM, -ARM],
];

function polygon(...corners: [number, number][]): string {
  return `M${corners.map(([x, y]) => `${round(x)},${round(y)}`).join("L")}Z`;
}

function round(value: number): number {
  return Math.round(1000 * value) / 1000;
}
