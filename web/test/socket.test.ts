import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SocketConnection } from "../src/socket";

class FakeSocket {
  static made: FakeSocket[] = [];
  onopen?: () => void;
  onclose?: (event: { code: number; reason: string }) => void;
  onmessage?: (event: { data: string }) => void;
  constructor() {
    FakeSocket.made.push(this);
  }
  close(): void {}
}

let connection: SocketConnection;
let texts: string[];
const connect = (status: number): void => {
  vi.stubGlobal("fetch", vi.fn(() => (status ? Promise.resolve({ status }) : Promise.reject(new TypeError()))));
  connection = new SocketConnection("ws://127.0.0.1:8000/ws");
  connection.on({ status: (_, text) => texts.push(text) });
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  FakeSocket.made = [];
  texts = [];
});
afterEach(() => {
  connection.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it.each([0, 200])("tries again after a loss (the page answers %i)", async (status) => {
  connect(status);
  FakeSocket.made[0]!.onclose?.({ code: 1006, reason: "" });
  await vi.advanceTimersByTimeAsync(300);
  expect(connection.status).toBe("lost");
  expect(FakeSocket.made).toHaveLength(2);
});

it("stops when the server has another token, and says which address to open", async () => {
  connect(403);
  FakeSocket.made[0]!.onclose?.({ code: 1006, reason: "" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(connection.status).toBe("refused");
  expect(texts.at(-1)).toContain("open the one that the terminal shows");
  expect(FakeSocket.made).toHaveLength(1);
  expect(fetch).toHaveBeenCalledWith(new URL("http://127.0.0.1:8000/"), { cache: "no-store" });
});

it("keeps the words with which the studio closed", () => {
  connect(200);
  FakeSocket.made[0]!.onmessage?.({ data: JSON.stringify({ type: "closed", message: "The studio was closed." }) });
  FakeSocket.made[0]!.onclose?.({ code: 1012, reason: "" });
  expect([connection.status, texts.at(-1)]).toEqual(["closed", "The studio was closed."]);
});
