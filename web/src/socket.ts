// The connection of the page: a WebSocket that reconnects.

import { Exchange, LOST } from "./connection";
import type { ClientMessage, ServerMessage } from "./protocol";

const FIRST_WAIT = 250;
const MAX_WAIT = 5_000;
const PING_EVERY = 20_000;
/** Codes of the server with which trying again is of no use. */
const FINAL_CODES = new Set([1008, 1009]);
const OTHER_TOKEN = "The studio was started again with another address: open the one that the terminal shows.";

/** Address of the socket beside the page; the page's cookie holds the token. */
export function socketAddress(page: Location): string {
  const address = new URL("ws", page.href);
  address.protocol = page.protocol === "https:" ? "wss:" : "ws:";
  address.search = "";
  address.hash = "";
  return address.href;
}

export class SocketConnection extends Exchange {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly pings: ReturnType<typeof setInterval>;
  private ended = false;

  constructor(private readonly address: string) {
    super();
    this.pings = setInterval(() => {
      if (this.status === "open") this.send({ do: "ping" });
    }, PING_EVERY);
    this.connect();
  }

  private connect(): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.setStatus("open");
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data !== "string") {
        this.receiveBytes(event.data);
        return;
      }
      const message = JSON.parse(event.data) as ServerMessage;
      if (message.type === "closed") this.end(message.message);
      else this.receiveMessage(message);
    };
    socket.onclose = (event) => {
      if (this.ended) return;
      if (FINAL_CODES.has(event.code)) {
        this.end(event.reason || "The studio refused the connection.", "refused");
        return;
      }
      this.setStatus("lost", LOST);
      void this.checkToken();
      this.timer = setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, MAX_WAIT);
    };
    this.socket = socket;
  }

  protected transmit(message: ClientMessage & { id: number }): void {
    if (this.socket?.readyState !== WebSocket.OPEN) throw new Error("There is no connection to the studio; nothing was sent.");
    this.socket.send(JSON.stringify(message));
  }

  /** A refused handshake looks like a lost connection; the page itself is refused with a status. */
  private async checkToken(): Promise<void> {
    const page = new URL(".", this.address.replace(/^ws/, "http"));
    const status = await fetch(page, { cache: "no-store" }).then((answer) => answer.status, () => 0);
    if (status === 403 && this.status !== "open") this.end(OTHER_TOKEN, "refused");
  }

  private end(text: string, status: "closed" | "refused" = "closed"): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timer);
    clearInterval(this.pings);
    this.setStatus(status, text);
    this.socket?.close();
  }

  close(): void {
    this.end("The page closed the connection.");
  }
}
