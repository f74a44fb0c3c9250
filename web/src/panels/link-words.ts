// How links are worded and drawn, the same in every panel.

import type { Link, LinkSource } from "../protocol";
import { make, makeSvg } from "./element";

export const SOURCE_WORDS: Record<LinkSource, string> = {
  file: "from the file",
  drawn: "drawn",
  answer: "answered",
  pin: "pinned",
  lock: "locked group",
  fixed: "fixed by a column",
};

// Links of a column of groups or of labels are facts of the table; those of pins and locks follow from these.
const REMOVABLE: ReadonlySet<LinkSource> = new Set(["file", "drawn", "answer"]);

export function isRemovable(link: Link): boolean {
  return REMOVABLE.has(link.source);
}

export function relation(link: Pick<Link, "together">): string {
  return link.together ? "same group as" : "different group from";
}

/** The sentence that names a link to a screen reader and in a dialog. */
export function spellLink(link: Link): string {
  return `${link.a_name}: ${relation(link)} ${link.b_name} (${SOURCE_WORDS[link.source]})`;
}

/** A solid line for the same group, a dashed and crossed one for different groups. */
export function drawLink(together: boolean): SVGSVGElement {
  const line = makeSvg("line", {
    x1: 5,
    y1: 8,
    x2: 19,
    y2: 8,
    stroke: "currentColor",
    "stroke-width": 2,
    "stroke-dasharray": together ? null : "3 2",
  });
  const ends = [5, 19].map((cx) => makeSvg("circle", { cx, cy: 8, r: 3.5, fill: "currentColor" }));
  const cross = together
    ? null
    : makeSvg("line", { x1: 9, y1: 13, x2: 15, y2: 3, stroke: "currentColor", "stroke-width": 2 });
  return makeSvg(
    "svg",
    { viewBox: "0 0 24 16", class: `ml-link-symbol ${together ? "same" : "different"}`, "aria-hidden": "true" },
    line,
    ...ends,
    cross,
  );
}

/** The order of the rows along a chain of links, which may each be written either way around. */
export function chainRows(chain: readonly Link[]): { row: number; name: string }[] {
  const first = chain[0];
  if (first === undefined) return [];
  const next = chain[1];
  // The row that the second link does not have; a link and its opposite have both.
  const isShared = (row: number): boolean => next !== undefined && (row === next.a || row === next.b);
  const startsAtB = isShared(first.a) && !isShared(first.b);
  const rows = [startsAtB ? { row: first.b, name: first.b_name } : { row: first.a, name: first.a_name }];
  for (const link of chain) {
    const last = rows[rows.length - 1]!;
    rows.push(link.a === last.row ? { row: link.b, name: link.b_name } : { row: link.a, name: link.a_name });
  }
  return rows;
}

export function spellTime(when: string | null): string {
  if (when === null) return "";
  const time = new Date(when);
  if (Number.isNaN(time.getTime())) return when;
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday
    ? time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : time.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

export function makeTime(when: string | null): HTMLElement {
  return make("time", { class: "ml-fine", datetime: when }, spellTime(when));
}
