// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Refused } from "../../src/protocol";
import { chainRows } from "../../src/panels/link-words";
import { link, mount, named, pressKey, settle, type Mounted } from "./fixture";

let page: Mounted;
beforeEach(() => (page = mount()));
afterEach(() => page.end());

const then = { do: "link", a: 0, b: 3, together: false } as const;
const chain = [link(0, 2), link(5, 2, { source: "file" }), link(3, 5, { source: "drawn" })];
const dialog = (): HTMLElement | null => page.root.querySelector("[role=alertdialog]");

async function refuse(given: Partial<Refused> = {}): Promise<void> {
  void page.store.act(then);
  const id = page.connection.lastId;
  page.connection.tell({ type: "refused", id, message: "row 0 and row 3 are linked.", chain, weakest: 1, then, ...given });
  await settle();
}

it("puts a chain in order, whichever way its links are written", () => {
  expect(chainRows(chain).map(({ row }) => row)).toEqual([0, 2, 5, 3]);
  expect(chainRows([link(2, 0), link(2, 5)]).map(({ row }) => row)).toEqual([0, 2, 5]);
  expect(chainRows([link(4, 1)]).map(({ row }) => row)).toEqual([4, 1]);
  expect(chainRows([link(1, 4), link(1, 4, { together: false })]).map(({ row }) => row)).toEqual([1, 4, 1]);
  expect(chainRows([])).toEqual([]);
});

it("shows the chain and names the weakest link", async () => {
  await refuse();
  const items = [...dialog()!.querySelectorAll(".ml-chain > li")].map((item) => item.textContent);
  expect(items).toEqual([
    "row 0",
    "\u2193same group as row 2 answered",
    "\u2193same group as row 5 from the file weakest",
    "\u2193same group as row 3 drawn",
  ]);
  const remove = named(page.root, "button", "Remove the weakest link");
  const note = document.getElementById(remove.getAttribute("aria-describedby")!);
  expect(note?.textContent).toContain("row 5 and row 2 (from the file)");
  const described = document.getElementById(dialog()!.getAttribute("aria-describedby")!);
  expect(described?.textContent).toBe("row 0 and row 3 are linked.");
});

it("marks what was asked in a chain that closes", async () => {
  await refuse({ chain: [link(0, 3), link(0, 3, { together: false, source: "drawn" })], weakest: 0 });
  const items = [...dialog()!.querySelectorAll(".ml-chain > li")].map((item) => item.textContent);
  expect(items).toEqual([
    "row 0",
    "\u2193same group as row 3 answered weakest",
    "\u2193different group from row 0 what you asked",
  ]);
});

it("removes the weakest link and does what was asked", async () => {
  await refuse();
  named(page.root, "button", "Remove the weakest link").click();
  expect(page.connection.last).toEqual({ do: "replace", remove: [5, 2], then });
  expect(dialog()).toBeNull();
});

it.each(["the button", "Escape"])("keeps it as it was by %s, and gives the focus back", async (way) => {
  const before = named(page.root, "button", "Same (s)");
  before.focus();
  await refuse();
  const keep = named(page.root, "button", "Keep it as it was");
  expect(document.activeElement).toBe(keep);
  if (way === "Escape") pressKey("Escape", {}, keep);
  else keep.click();
  expect(dialog()).toBeNull();
  expect(page.store.refused).toBeNull();
  expect(page.connection.sent).toHaveLength(1);
  expect(document.activeElement).toBe(before);
});

it("keeps the focus inside and everything else out of reach", async () => {
  await refuse();
  const keep = named(page.root, "button", "Keep it as it was");
  const remove = named(page.root, "button", "Remove the weakest link");
  pressKey("Tab", {}, keep);
  expect(document.activeElement).toBe(remove);
  pressKey("Tab", { shiftKey: true }, remove);
  expect(document.activeElement).toBe(keep);
  const others = [...page.root.children].filter((child) => !child.contains(keep)) as HTMLElement[];
  expect(others.every((element) => element.inert)).toBe(true);
  keep.click();
  expect(others.some((element) => element.inert)).toBe(false);
});

it("takes no keys of the page while it is open", async () => {
  await refuse();
  pressKey("s", {}, named(page.root, "button", "Keep it as it was"));
  pressKey("s");
  expect(page.connection.sent).toHaveLength(1);
});

it("offers nothing to remove where nothing can be removed", async () => {
  await refuse({ weakest: null, chain: [link(0, 3, { source: "fixed" })] });
  expect(dialog()!.querySelectorAll("button")).toHaveLength(1);
  expect(dialog()!.textContent).toContain("None of these links can be removed here: what comes from columns");
  await refuse({ weakest: null, chain: [link(0, 3, { source: "lock" }), link(3, 4, { source: "answer" })] });
  expect(dialog()!.textContent).toContain("None of these links can be removed here: unlock the group.");
});

it("shows the second refusal in place of the first", async () => {
  await refuse();
  await refuse({ message: "Another sentence." });
  expect(page.root.querySelectorAll("[role=alertdialog]")).toHaveLength(1);
  expect(dialog()!.textContent).toContain("Another sentence.");
});
