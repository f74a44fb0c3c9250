// The studio in a notebook: an anywidget module.

import { Exchange } from "./connection";
import { mountStudio } from "./main";
import type { ClientMessage, ServerMessage } from "./protocol";
import styles from "./styles/index.css?inline";

/** What is used of anywidget's model. */
interface Model {
  send(content: unknown, callbacks?: unknown, buffers?: ArrayBuffer[]): void;
  on(event: "msg:custom", fn: (content: unknown, buffers: DataView[]) => void): void;
  off(event: "msg:custom", fn: (content: unknown, buffers: DataView[]) => void): void;
}

/** A custom message is one JSON message, or `{type: "bytes"}` with one buffer. */
class WidgetConnection extends Exchange {
  private readonly receive = (content: unknown, buffers: DataView[]): void => {
    if (this.status !== "open") this.setStatus("open");
    const message = content as ServerMessage | { type: "bytes" };
    if (message.type === "bytes") for (const bytes of buffers) this.receiveBytes(bytes);
    else if (message.type === "closed") this.setStatus("closed", message.message);
    else this.receiveMessage(message);
  };

  constructor(private readonly model: Model) {
    // All views of a widget get every answer: each has numbers of its own, and takes no answer of another for its own.
    super(Math.floor(Math.random() * 2 ** 46));
    model.on("msg:custom", this.receive);
    // This view asks for the whole state.
    model.send({ do: "open" });
  }

  protected transmit(message: ClientMessage & { id: number }): void {
    this.model.send(message);
  }

  close(): void {
    this.model.off("msg:custom", this.receive);
    this.setStatus("closed", "The notebook closed this view.");
  }
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const style = document.createElement("style");
  style.textContent = styles;
  const root = document.createElement("div");
  root.classList.add("ml-in-notebook");
  el.append(style, root);
  const connection = new WidgetConnection(model);
  const studio = mountStudio(root, connection);
  return () => {
    studio.destroy();
    connection.close();
  };
}

export default { render };
