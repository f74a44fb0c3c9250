import { describe, expect, it } from "vitest";
import { type Buffer, parseBuffer, writeBuffer } from "../src/protocol";

const buffers: Buffer[] = [
  { kind: "positions", revision: 3, view: 2, values: Float32Array.of(0.5, -1, 1, 0.25) },
  { kind: "labels", revision: 4, view: 0, values: Uint16Array.of(0, 65535, 7) },
  { kind: "confidence", revision: 5, view: 0, values: Uint8Array.of(0, 128, 255) },
  { kind: "edges", revision: 6, view: 0, values: Uint32Array.of(0, 99_999, 4, 5) },
];

describe("binary messages", () => {
  it.each(buffers)("reads $kind back", (buffer) => {
    expect(parseBuffer(writeBuffer(buffer))).toEqual(buffer);
  });

  it.each(buffers)("reads $kind from the middle of a larger buffer, as a notebook hands it over", (buffer) => {
    const bytes = new Uint8Array(writeBuffer(buffer));
    const larger = new Uint8Array(bytes.length + 8);
    larger.set(bytes, 3);
    expect(parseBuffer(new DataView(larger.buffer, 3, bytes.length))).toEqual(buffer);
  });

  it("has the header that the server writes", () => {
    const bytes = new Uint8Array(writeBuffer({ kind: "labels", revision: 258, view: 0, values: Uint16Array.of(1, 2) }));
    expect([...bytes]).toEqual([2, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 2, 0]);
  });

  it("refuses a length that does not fit the header", () => {
    const bytes = writeBuffer({ kind: "positions", revision: 1, view: 0, values: new Float32Array(4) });
    expect(() => parseBuffer(bytes.slice(0, -1))).toThrow("announces 2 items");
    expect(() => parseBuffer(bytes.slice(0, 10))).toThrow("header");
  });

  it("refuses an unknown kind", () => {
    expect(() => parseBuffer(Uint32Array.of(9, 0, 0, 0).buffer)).toThrow("unknown kind 9");
  });
});
