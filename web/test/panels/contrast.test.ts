import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("../../src/styles/tokens.css", import.meta.url), "utf8");

/** Colors by name, of the first rule (light), or of the second laid over it (dark). */
function tokens(theme: "light" | "dark"): Map<string, string> {
  const [light, dark] = css.split('.ml-studio[data-theme="dark"]');
  const rules = theme === "light" ? light! : light! + dark!;
  return new Map([...rules.matchAll(/--ml-([a-z-]+): (#[0-9a-f]{6});/g)].map((found) => [found[1]!, found[2]!]));
}

function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const value = parseInt(color.slice(i, i + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(first: string, second: string): number {
  const [dark, light] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

const TEXTS: [string, string][] = [
  ...["back", "page", "raised", "accent-soft", "mark"].map((back): [string, string] => ["text", back]),
  ...["back", "page", "raised"].map((back): [string, string] => ["quiet", back]),
  ["on-accent", "accent"],
  ["on-accent", "accent-hover"],
  ["accent", "back"],
  ["mark-ink", "mark"],
  ["mark-ink", "back"],
  ["danger", "danger-soft"],
  ["danger", "back"],
  ["danger", "raised"],
];
const EDGES: [string, string][] = [
  ["edge", "back"],
  ["same", "back"],
  ["different", "back"],
  ["mark-edge", "mark"],
  ["accent", "accent-soft"],
];

describe.each(["light", "dark"] as const)("the %s theme", (theme) => {
  const colors = tokens(theme);
  it.each(TEXTS)("has readable %s on %s", (ink, back) => {
    expect(contrast(colors.get(ink)!, colors.get(back)!)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(EDGES)("has visible %s on %s", (edge, back) => {
    expect(contrast(colors.get(edge)!, colors.get(back)!)).toBeGreaterThanOrEqual(3);
  });
});
