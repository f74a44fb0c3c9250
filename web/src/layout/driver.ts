// The page's side of the spring layout.

import type { Store } from "../store";
import type { FromWorker, ToWorker } from "./messages";
import LayoutWorker from "./worker?worker&inline";

export class SpringDriver {
  private worker: Worker | null = null;
  /** What was sent last; the same is not sent twice. */
  private known: { pins: unknown; labels: unknown } = { pins: null, labels: null };
  private last: Float32Array | null = null;
  isAtRest = true;

  constructor(
    private readonly store: Store,
    private readonly isReduced: () => boolean,
    /** Draws positions; they are valid until it returns. */
    private readonly draw: (positions: Float32Array) => void,
  ) {}

  /** Run while the spring view is shown and there are edges, with what the store knows now. */
  update(): void {
    const { store } = this;
    const start = store.shownPositions;
    const isWanted = store.view === "spring" && store.edges.length > 0 && start !== null && store.state !== null;
    if (!isWanted) {
      this.stop();
      return;
    }
    if (!this.worker) this.start(this.placesFor(start));
    const { pins } = store.state!;
    const isSame = JSON.stringify(pins) === this.known.pins && store.labels === this.known.labels;
    if (isSame) return;
    this.known = { pins: JSON.stringify(pins), labels: store.labels };
    this.isAtRest = false;
    this.post({ do: "know", pins, labels: store.labels });
  }

  /** Where the layout goes on: its last places, or the given ones if it has not run. */
  placesFor(start: Float32Array): Float32Array {
    return this.last?.length === start.length ? this.last : start;
  }

  private start(positions: Float32Array): void {
    this.worker = new LayoutWorker();
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onerror = () => {
      this.store.setNotice("The spring layout stopped because of an error; the rows stay where they are.");
      this.stop();
    };
    const own = positions.slice();
    this.post({ do: "start", positions: own, edges: this.store.edges, untilRest: this.isReduced() }, [own.buffer]);
  }

  private receive({ positions, isAtRest }: FromWorker): void {
    this.isAtRest = isAtRest;
    this.last = positions.slice();
    this.draw(this.last);
    // Asked for the next frame only when this one can be drawn, so that frames do not queue.
    requestAnimationFrame(() => this.post({ do: "next", positions }, [positions.buffer]));
  }

  private post(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker?.postMessage(message, transfer);
  }

  stop(): void {
    this.worker?.terminate();
    this.worker = null;
    this.known = { pins: null, labels: null };
    this.isAtRest = true;
  }

  /** Forget where the rows were: another table. */
  reset(): void {
    this.stop();
    this.last = null;
  }
}
