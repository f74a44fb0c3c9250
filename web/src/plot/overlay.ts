// Above the points: links, rings, selection, the asked pair, what is being dragged or drawn, names of groups.

import type { Link } from "../protocol";
import { clamp } from "./camera";
import { groupColor, groupShape, shapePath } from "./palette";
import type { Scene } from "./scene";

const MAX_LINKS = 60;
const MAX_RINGS = 3_000;
const MAX_FEW = 3;
const TAU = 2 * Math.PI;

export function drawOverlay(context: CanvasRenderingContext2D, scene: Scene): void {
  context.clearRect(0, 0, scene.camera.width, scene.camera.height);
  if (scene.drawn.n === 0) return;
  drawLinks(context, scene);
  if (scene.changed.length <= MAX_RINGS) rings(context, scene, scene.changed, scene.radius + 1.5, scene.theme.text, 1.25);
  drawSelection(context, scene);
  drawPins(context, scene);
  drawNames(context, scene);
  drawQuestion(context, scene);
  drawHovered(context, scene);
  if (scene.lasso) drawLasso(context, scene, scene.lasso);
  if (scene.line) drawLine(context, scene);
  if (scene.ghost) drawGhost(context, scene);
}

function place({ camera, drawn }: Scene, row: number): [number, number] {
  return [camera.screenX(drawn.positions[2 * row]!), camera.screenY(drawn.positions[2 * row + 1]!)];
}

/** All links that a person knows of if they are few, else those of the rows that are looked at. */
export function visibleLinks({ store }: Scene): Link[] {
  const links = store.state?.links ?? [];
  const near = new Set(store.selection.length <= 50 ? store.selection : []);
  if (store.hovered !== null) near.add(store.hovered);
  const known = links.filter((link) => link.source !== "pin" && link.source !== "lock");
  const isFew = known.length <= MAX_LINKS;
  return links.filter(
    (link) => near.has(link.a) || near.has(link.b) || (isFew && link.source !== "pin" && link.source !== "lock"),
  );
}

function strokeLink(context: CanvasRenderingContext2D, scene: Scene, together: boolean, from: [number, number], to: [number, number]): void {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  // A lighter bed, so that a link is seen on points of any color.
  const width = context.lineWidth;
  context.strokeStyle = scene.theme.back;
  context.lineWidth = width + 2;
  context.stroke();
  context.lineWidth = width;
  context.setLineDash(together ? [] : [6, 4]);
  context.strokeStyle = together ? scene.theme.text : scene.theme.danger;
  context.stroke();
  context.setLineDash([]);
}

function drawLinks(context: CanvasRenderingContext2D, scene: Scene): void {
  const chain = scene.store.refused?.chain ?? [];
  context.lineWidth = 1.5;
  context.globalAlpha = chain.length ? 0.25 : 0.7;
  for (const link of visibleLinks(scene)) strokeLink(context, scene, link.together, place(scene, link.a), place(scene, link.b));
  context.globalAlpha = 1;
  context.lineWidth = 3;
  for (const link of chain) strokeLink(context, scene, link.together, place(scene, link.a), place(scene, link.b));
}

function drawSelection(context: CanvasRenderingContext2D, scene: Scene): void {
  const { selection } = scene.store;
  if (selection.length === 0) return;
  const { theme, radius } = scene;
  if (selection.length > MAX_RINGS) {
    context.fillStyle = theme.text;
    for (const row of selection) {
      const [x, y] = place(scene, row);
      context.fillRect(x - 1, y - 1, 2, 2);
    }
    return;
  }
  rings(context, scene, selection, radius + 3, theme.back, 3.5);
  rings(context, scene, selection, radius + 3, theme.text, 1.75);
}

function rings(
  context: CanvasRenderingContext2D,
  scene: Scene,
  rows: Iterable<number>,
  radius: number,
  color: string,
  width: number,
): void {
  context.beginPath();
  for (const row of rows) {
    const [x, y] = place(scene, row);
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, TAU);
  }
  context.strokeStyle = color;
  context.lineWidth = width;
  context.stroke();
}

/** A pinned row has two rings around it, so that it is told from a selected one without color. */
function drawPins(context: CanvasRenderingContext2D, scene: Scene): void {
  const rows = (scene.store.state?.pins ?? []).map(([row]) => row).concat([...scene.drawn.held.keys()]);
  if (rows.length === 0) return;
  const { accent } = scene.theme;
  // Many rows that were dropped together would be one blob of rings.
  const isMany = rows.length > 40;
  rings(context, scene, rows, scene.radius + 2.5, accent, isMany ? 1 : 1.5);
  if (!isMany) rings(context, scene, rows, scene.radius + 5.5, accent, 1.5);
}

function drawQuestion(context: CanvasRenderingContext2D, scene: Scene): void {
  const question = scene.store.question?.question;
  if (!question || question.a >= scene.drawn.n || question.b >= scene.drawn.n) return;
  const { theme, radius } = scene;
  const [a, b] = [place(scene, question.a), place(scene, question.b)];
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  context.setLineDash([1.5, 4]);
  context.beginPath();
  context.moveTo(...a);
  context.lineTo(...b);
  context.stroke();
  context.setLineDash([]);
  rings(context, scene, [question.a, question.b], radius + 6, theme.back, 5);
  rings(context, scene, [question.a, question.b], radius + 6, theme.accent, 2.5);
  badge(context, scene, a, "1");
  badge(context, scene, b, "2");
}

/** A small disc with a letter beside a place. */
function badge(context: CanvasRenderingContext2D, { theme, radius }: Scene, [x, y]: [number, number], text: string): void {
  const [bx, by] = [x + radius + 9, y - radius - 9];
  context.beginPath();
  context.arc(bx, by, 8, 0, TAU);
  context.fillStyle = theme.accent;
  context.fill();
  context.fillStyle = theme.back;
  context.font = `700 11px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, bx, by + 0.5);
}

function drawHovered(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, radius, store, cursor } = scene;
  if (store.hovered !== null) rings(context, scene, [store.hovered], radius + 2, theme.text, 2);
  if (cursor === null) return;
  const [x, y] = place(scene, cursor);
  const half = radius + 7;
  context.lineWidth = 5;
  context.strokeStyle = theme.back;
  context.strokeRect(x - half, y - half, 2 * half, 2 * half);
  context.lineWidth = 2;
  context.strokeStyle = theme.text;
  context.strokeRect(x - half, y - half, 2 * half, 2 * half);
}

function drawNames(context: CanvasRenderingContext2D, scene: Scene): void {
  const { camera, theme, store, labels } = scene;
  const groups = new Map(store.state?.groups.map((group) => [group.id, group]));
  const taken = questionBoxes(scene);
  context.font = `600 13px ${theme.font}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const known = labels.flatMap((label) => {
    const group = groups.get(label.group);
    return group ? [{ ...label, name: group.name, size: group.size, locked: group.locked }] : [];
  });
  for (const label of known.sort((a, b) => b.size - a.size)) {
    const text = shorten(label.name) + (label.locked ? " (locked)" : "");
    const width = context.measureText(text).width + 20;
    const x = camera.screenX(label.x) - width / 2;
    // The name of a few rows would cover all of them: it stands above.
    const wanted = camera.screenY(label.y) - (label.size <= MAX_FEW ? scene.radius + 18 : 0);
    if (x + width < 0 || x > camera.width || wanted < -10 || wanted > camera.height + 10) continue;
    const y = [0, 20, -20, 40, -40].map((dy) => wanted + dy).find((at) => isFree(taken, x, at, width));
    if (y === undefined) continue;
    taken.push([x, y, width, 20]);
    drawName(context, scene, label.group, text, x, y);
  }
}

/** Where the marks of the question are, which names must leave free: left edge, middle, width, height. */
function questionBoxes(scene: Scene): [number, number, number, number][] {
  const question = scene.store.question?.question;
  if (!question || question.a >= scene.drawn.n || question.b >= scene.drawn.n) return [];
  return [question.a, question.b].map((row) => {
    const [x, y] = place(scene, row);
    return [x - scene.radius - 8, y - 8, 2 * scene.radius + 26, 20];
  });
}

function isFree(taken: readonly [number, number, number, number][], x: number, y: number, width: number): boolean {
  return taken.every(([ox, oy, ow]) => x + width < ox || ox + ow < x || Math.abs(oy - y) >= 20);
}

function drawName(context: CanvasRenderingContext2D, { theme }: Scene, group: number, text: string, x: number, y: number): void {
  context.fillStyle = theme.back;
  context.globalAlpha = 0.85;
  context.beginPath();
  context.roundRect(x - 3, y - 10, context.measureText(text).width + 26, 20, 5);
  context.fill();
  context.globalAlpha = 1;
  context.fillStyle = theme.text;
  context.fillText(text, x + 18, y + 0.5);
  context.save();
  context.translate(x + 8, y);
  context.scale(6, 6);
  context.fillStyle = groupColor(group, theme.dark);
  context.fill(new Path2D(shapePath(groupShape(group))));
  context.restore();
}

function shorten(name: string): string {
  return name.length > 28 ? `${name.slice(0, 27)}\u2026` : name;
}

function drawLasso(context: CanvasRenderingContext2D, { camera, theme }: Scene, lasso: number[]): void {
  context.beginPath();
  for (let i = 0; i < lasso.length; i += 2) context.lineTo(camera.screenX(lasso[i]!), camera.screenY(lasso[i + 1]!));
  context.closePath();
  context.fillStyle = context.strokeStyle = theme.accent;
  context.globalAlpha = 0.12;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.setLineDash([4, 3]);
  context.stroke();
  context.setLineDash([]);
}

function drawLine(context: CanvasRenderingContext2D, scene: Scene): void {
  const { line, camera, radius, theme } = scene;
  if (!line) return;
  const end: [number, number] = line.to === null ? [camera.screenX(line.x), camera.screenY(line.y)] : place(scene, line.to);
  context.lineWidth = 2.5;
  strokeLink(context, scene, line.together, place(scene, line.from), end);
  const ends = line.to === null ? [line.from] : [line.from, line.to];
  rings(context, scene, ends, radius + 4, line.together ? theme.text : theme.danger, 2);
}

function drawGhost(context: CanvasRenderingContext2D, scene: Scene): void {
  const { ghost, camera, theme, store, radius } = scene;
  if (!ghost) return;
  const [x, y] = [camera.screenX(ghost.x), camera.screenY(ghost.y)];
  const first = ghost.rows[0]!;
  context.globalAlpha = 0.5;
  context.setLineDash([3, 3]);
  context.lineWidth = 1;
  context.strokeStyle = theme.text;
  context.beginPath();
  context.moveTo(...place(scene, first));
  context.lineTo(x, y);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
  if (ghost.onto) rings(context, scene, [ghost.onto[0]], radius + 4, theme.accent, 2.5);
  context.save();
  context.translate(x, y);
  context.scale(radius + 3, radius + 3);
  const group = store.groupOf(first);
  context.fillStyle = groupColor(group, theme.dark);
  context.fill(new Path2D(shapePath(groupShape(group))));
  context.restore();
  caption(context, scene, x, y, dropText(scene));
}

/** What letting go here would say. */
function dropText({ ghost, store }: Scene): string {
  if (!ghost) return "";
  const what = ghost.rows.length > 1 ? `${ghost.rows.length} rows ` : "";
  if (!ghost.onto) return `${what}to a new place`;
  const group = store.groupOf(ghost.onto[0]);
  const name = store.state?.groups.find((other) => other.id === group)?.name;
  return name ? `${what}into ${shorten(name)}` : `${what}together with this row`;
}

function caption(context: CanvasRenderingContext2D, { theme, camera }: Scene, x: number, y: number, text: string): void {
  context.font = `500 12px ${theme.font}`;
  const width = context.measureText(text).width + 14;
  const left = clamp(x + 16, 4, camera.width - width - 4);
  const top = clamp(y + 16, 4, camera.height - 28);
  context.fillStyle = theme.text;
  context.beginPath();
  context.roundRect(left, top, width, 24, 5);
  context.fill();
  context.fillStyle = theme.back;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, left + 7, top + 12.5);
}
