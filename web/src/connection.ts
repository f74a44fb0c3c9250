// What page and notebook share: messages with numbers, and answers that find their request.

import type { Action, Answers, Buffer, ClientMessage, Done, Query, Refused, ServerMessage } from "./protocol";
import { parseBuffer } from "./protocol";

/** "closed" by the studio or the page, "refused" if trying again is of no use. */
export type ConnectionStatus = "connecting" | "open" | "lost" | "closed" | "refused";

export const LOST = "The connection to the studio is lost; trying again.";

export interface Listener {
  message?(message: ServerMessage): void;
  buffer?(buffer: Buffer): void;
  status?(status: ConnectionStatus, text: string): void;
}

export interface Connection {
  readonly status: ConnectionStatus;
  /** Send without waiting for an answer. */
  send(message: ClientMessage): void;
  /** Send; resolves with the answer, is rejected with the server's sentence. */
  request<Q extends Query>(message: Q): Promise<Answers[Q["do"]]>;
  request(message: Action): Promise<Done | Refused>;
  /** Listen to everything that arrives; the returned function ends it. */
  on(listener: Listener): () => void;
  close(): void;
}

interface Pending {
  resolve(message: never): void;
  reject(error: Error): void;
}

/** Numbers messages and matches answers; subclasses carry texts and bytes. */
export abstract class Exchange implements Connection {
  status: ConnectionStatus = "connecting";
  private statusText = "";
  private readonly listeners = new Set<Listener>();
  private readonly pending = new Map<number, Pending>();

  /** `next` is the number of the first message. */
  constructor(private next = 1) {}

  protected abstract transmit(message: ClientMessage & { id: number }): void;
  abstract close(): void;

  send(message: ClientMessage): void {
    this.transmit({ id: this.next++, ...message });
  }

  request(message: ClientMessage): Promise<never> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      if (this.status !== "open") {
        reject(new Error("There is no connection to the studio; nothing was sent."));
        return;
      }
      this.pending.set(id, { resolve, reject });
      try {
        this.transmit({ id, ...message });
      } catch (error) {
        this.pending.delete(id);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  on(listener: Listener): () => void {
    this.listeners.add(listener);
    listener.status?.(this.status, this.statusText);
    return () => this.listeners.delete(listener);
  }

  protected receiveMessage(message: ServerMessage): void {
    for (const listener of this.listeners) listener.message?.(message);
    // Listeners first, so that whoever awaits an answer finds the store up to date.
    if ("id" in message && message.id !== null) {
      const pending = this.pending.get(message.id);
      if (pending) {
        this.pending.delete(message.id);
        if (message.type === "error") pending.reject(new Error(message.message));
        else pending.resolve(message as never);
      }
    }
  }

  protected receiveBytes(bytes: ArrayBuffer | DataView): void {
    const buffer = parseBuffer(bytes);
    for (const listener of this.listeners) listener.buffer?.(buffer);
  }

  protected setStatus(status: ConnectionStatus, text = ""): void {
    this.status = status;
    this.statusText = text;
    if (status !== "open") {
      const lost = [...this.pending.values()];
      this.pending.clear();
      for (const pending of lost) pending.reject(new Error("The connection to the studio was lost before the answer came."));
    }
    for (const listener of this.listeners) listener.status?.(status, text);
  }
}
