// Below the points: relational edges and the halos of pinned rows.

import type { Scene } from "./scene";

const MAX_EDGES = 20_000;

export function drawUnderlay(context: CanvasRenderingContext2D, scene: Scene): void {
  context.clearRect(0, 0, scene.camera.width, scene.camera.height);
  drawHalos(context, scene);
  if (scene.store.view === "spring") drawEdges(context, scene);
}

/** Within a halo, a dropped row is linked to the pinned one; its size is of the world, not of the screen. */
function drawHalos(context: CanvasRenderingContext2D, scene: Scene): void {
  const { camera, drawn, theme, store } = scene;
  const radius = (store.state?.eps ?? 0) * camera.scale;
  const circles = (store.state?.pins ?? []).map(([row]) => [
    camera.screenX(drawn.positions[2 * row]!),
    camera.screenY(drawn.positions[2 * row + 1]!),
  ]);
  if (scene.ghost) circles.push([camera.screenX(scene.ghost.x), camera.screenY(scene.ghost.y)]);
  if (circles.length === 0) return;
  context.beginPath();
  for (const [x, y] of circles) {
    context.moveTo(x! + radius, y!);
    context.arc(x!, y!, radius, 0, 2 * Math.PI);
  }
  context.fillStyle = theme.accent;
  context.strokeStyle = theme.accent;
  // The outline of their union: strokes inside of another halo are taken away before the area is filled.
  context.globalAlpha = 0.6;
  context.lineWidth = 2;
  context.stroke();
  context.globalAlpha = 1;
  context.globalCompositeOperation = "destination-out";
  context.fill();
  context.globalCompositeOperation = "source-over";
  context.globalAlpha = theme.dark ? 0.14 : 0.09;
  context.fill();
  context.globalAlpha = 1;
}

function drawEdges(context: CanvasRenderingContext2D, { camera, drawn, theme, store }: Scene): void {
  const { edges } = store;
  const { positions } = drawn;
  const isAll = edges.length / 2 <= MAX_EDGES;
  const near = new Set(store.selection);
  if (store.hovered !== null) near.add(store.hovered);
  if (!isAll && near.size === 0) return;
  context.beginPath();
  for (let e = 0; e < edges.length; e += 2) {
    const i = edges[e]!;
    const j = edges[e + 1]!;
    if (!isAll && !near.has(i) && !near.has(j)) continue;
    context.moveTo(camera.screenX(positions[2 * i]!), camera.screenY(positions[2 * i + 1]!));
    context.lineTo(camera.screenX(positions[2 * j]!), camera.screenY(positions[2 * j + 1]!));
  }
  context.strokeStyle = theme.quiet;
  context.lineWidth = 1;
  context.globalAlpha = Math.max(0.08, Math.min(0.35, 600 / (edges.length + 1)));
  context.stroke();
  context.globalAlpha = 1;
}
