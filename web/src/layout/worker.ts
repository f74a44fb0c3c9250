// The worker of the spring layout: steps for most of a frame, posts positions, waits until they are drawn.

import type { FromWorker, ToWorker } from "./messages";
import { LayoutRun } from "./run";

const FRAME = 14;

let run: LayoutRun | null = null;
let spare: Float32Array | null = null;
let untilRest = false;
let timer: ReturnType<typeof setTimeout> | undefined;

function post(message: FromWorker): void {
  self.postMessage(message, { transfer: [message.positions.buffer] });
}

function work(): void {
  timer = undefined;
  if (!run || !spare || run.isAtRest) return;
  const end = performance.now() + (untilRest ? 200 : FRAME);
  do run.step();
  while (!run.isAtRest && performance.now() < end);
  if (untilRest && !run.isAtRest) {
    // Between the parts, so that news and an end are heard.
    schedule();
    return;
  }
  const positions = run.write(spare);
  spare = null;
  post({ positions, isAtRest: run.isAtRest });
}

function schedule(): void {
  timer ??= setTimeout(work, 0);
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.do) {
    case "start":
      run = new LayoutRun(data.positions, data.edges);
      spare = data.positions;
      untilRest = data.untilRest;
      break;
    case "know":
      run?.know(data.pins, data.labels);
      break;
    case "next":
      spare = data.positions;
      break;
  }
  schedule();
};
