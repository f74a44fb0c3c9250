// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it } from "vitest";
import { setSingleKeys } from "../../src/panels/keyboard";
import { mount, named, pressKey, state, type Mounted } from "./fixture";

let page: Mounted;
beforeEach(() => {
  localStorage.clear();
  page = mount();
});
afterEach(() => page.end());

it.each([
  ["s", true],
  ["d", false],
  ["u", null],
])("answers with %s", (key, together) => {
  pressKey(key);
  expect(page.connection.last).toEqual({ do: "answer", a: 0, b: 1, together });
});

it("does undo and redo only where there is something", () => {
  pressKey("y");
  expect(page.connection.sent).toHaveLength(0);
  pressKey("z");
  expect(page.connection.last).toEqual({ do: "undo" });
  page.connection.tell(state({ can_redo: true, can_undo: false }));
  pressKey("z");
  pressKey("y");
  expect(page.connection.sent.map((message) => message.do)).toEqual(["undo", "redo"]);
});

it("knows the usual keys with Control", () => {
  page.connection.tell(state({ can_redo: true }));
  pressKey("z", { ctrlKey: true });
  pressKey("Z", { ctrlKey: true, shiftKey: true });
  pressKey("y", { metaKey: true });
  pressKey("s", { ctrlKey: true });
  pressKey("d", { altKey: true });
  expect(page.connection.sent.map((message) => message.do)).toEqual(["undo", "redo", "redo"]);
});

it("changes the mode, shows the question on the map and clears the selection", () => {
  for (const [key, mode] of [["2", "lasso"], ["3", "same"], ["4", "different"], ["1", "pan"]] as const) {
    pressKey(key);
    expect(page.store.mode).toBe(mode);
  }
  pressKey("f");
  expect(page.store.selection).toEqual([0, 1]);
  pressKey("Escape");
  expect(page.store.selection).toEqual([]);
});

it("is off while typing", () => {
  const fields = page.root.querySelectorAll<HTMLElement>("input:not([type=range]), select");
  expect(fields.length).toBeGreaterThan(5);
  for (const field of fields) pressKey("s", {}, field);
  expect(page.connection.sent).toHaveLength(0);
});

it("ignores a key that is held down", () => {
  pressKey("s", { repeat: true });
  expect(page.connection.sent).toHaveLength(0);
});

it("can be switched off in the help, but for Control", () => {
  pressKey("?");
  const help = page.root.querySelector("[role=dialog]")!;
  expect(help.querySelectorAll("kbd").length).toBeGreaterThan(8);
  const single = help.querySelector<HTMLInputElement>("input[type=checkbox]")!;
  expect(single.checked).toBe(true);
  single.click();
  named(page.root, "button", "Close").click();
  pressKey("s");
  expect(page.connection.sent).toHaveLength(0);
  pressKey("z", { ctrlKey: true });
  expect(page.connection.last).toEqual({ do: "undo" });
  setSingleKeys(true);
  pressKey("s");
  expect(page.connection.last.do).toBe("answer");
});

it("stops listening when the studio is taken away", () => {
  page.end();
  pressKey("s");
  expect(page.connection.sent).toHaveLength(0);
});
