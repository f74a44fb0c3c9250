// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it } from "vitest";
import { comparison, link, mount, named, settle, state, type Mounted } from "./fixture";

let page: Mounted;
beforeEach(() => (page = mount()));
afterEach(() => page.end());

const button = (name: string): HTMLButtonElement => named(page.root, "button", name);
const text = (selector: string): string => page.root.querySelector(selector)?.textContent ?? "";

it("shows both rows and marks differing columns in words too", () => {
  expect(text(".ml-question-title")).toBe("Question 7");
  const rows = [...page.root.querySelectorAll(".ml-comparison tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent),
  );
  expect(rows).toEqual([
    ["Column", "Anna", "Bert"],
    ["\u2260age, differs most", "31", "64"],
    ["note", "<b>bold</b>", "(empty)"],
  ]);
  expect(page.root.querySelector(".ml-comparison b")).toBeNull();
  expect(text(".ml-question-rows + p")).toBe("and 3 more columns with smaller differences");
});

it.each([
  ["Same (s)", true],
  ["Different (d)", false],
  ["Unsure (u)", null],
])("sends the answer of %s once", async (name, together) => {
  button(name).click();
  button(name).click();
  expect(page.connection.sent).toHaveLength(1);
  expect(page.connection.last).toEqual({ do: "answer", a: 0, b: 1, together });
  expect(button(name).getAttribute("aria-disabled")).toBe("true");
  await page.connection.acknowledge();
  button(name).click();
  expect(page.connection.sent).toHaveLength(1);
  page.connection.tell({ type: "question", question: comparison({ a: 2, number: 8 }), end: null, advice: null });
  button(name).click();
  expect(page.connection.sent).toHaveLength(2);
});

it("stays answered when the server sends it once more, and is open again after undo", async () => {
  const again = { type: "question", question: comparison(), end: null, advice: null } as const;
  button("Same (s)").click();
  page.connection.tell({ ...again });
  await page.connection.acknowledge();
  page.connection.tell(state(), { ...again });
  expect(text(".ml-asked")).toContain("Choosing the next question");
  button("Same (s)").click();
  expect(page.connection.sent).toHaveLength(1);
  page.connection.tell(state({ can_redo: true }), { ...again });
  button("Same (s)").click();
  expect(page.connection.sent).toHaveLength(2);
});

it("can be answered again after a refusal", async () => {
  button("Same (s)").click();
  const then = { do: "answer", a: 0, b: 1, together: true } as const;
  page.connection.tell({ type: "refused", id: 1, message: "No.", chain: [link(0, 1)], weakest: null, then });
  await settle();
  named(page.root, "button", "Keep it as it was").click();
  button("Different (d)").click();
  expect(page.connection.last).toMatchObject({ do: "answer", together: false });
});

it("can be answered again after the connection was lost", async () => {
  button("Same (s)").click();
  page.connection.lose();
  await settle();
  page.connection.setOpen();
  button("Same (s)").click();
  expect(page.connection.sent).toHaveLength(2);
});

it("selects both rows on the map", () => {
  button("Show on map").click();
  expect(page.store.selection).toEqual([0, 1]);
  expect(page.focused).toEqual([[0, 1]]);
});

it("reads a new question out", () => {
  expect(text("[aria-live]")).toBe("Question 7: Anna and Bert. age: 31, 64");
});

it("says why no question is left, and gives advice", () => {
  button("Same (s)").focus();
  page.connection.tell({ type: "question", question: null, end: "Every row is linked.", advice: "You may stop." });
  expect(text(".ml-question-end")).toBe("Every row is linked.");
  expect(button("Same (s)").closest<HTMLElement>(".ml-question-actions")?.hidden).toBe(true);
  expect(text(".ml-advice")).toBe("You may stop.");
  expect(document.activeElement?.className).toBe("ml-question-title");
});

it("asks for the images of cells", async () => {
  const columns = [{ name: "photo", first: "a.png", second: "b.png", marked: false, kind: "image" as const }];
  page.connection.tell({ type: "question", question: comparison({ columns }), end: null, advice: null });
  expect(page.connection.sent.map((message) => ({ ...message, id: 0 }))).toEqual([
    { id: 0, do: "image", row: 0, column: "photo" },
    { id: 0, do: "image", row: 1, column: "photo" },
  ]);
  page.connection.tell({ type: "image", id: 1, row: 0, column: "photo", url: "data:image/png;base64,AA==" });
  page.connection.tell({ type: "error", id: 2, message: "There is no file b.png." });
  await settle();
  const image = page.root.querySelector<HTMLImageElement>(".ml-comparison img")!;
  expect(image.src).toBe("data:image/png;base64,AA==");
  expect(image.alt).toBe("photo of Anna");
  expect(text(".ml-comparison td:last-child")).toBe("There is no file b.png.");
});

it("chooses the strategy", () => {
  const select = page.root.querySelector<HTMLSelectElement>(".ml-question-footer select")!;
  expect([...select.options].map((option) => option.text)).toEqual(["farthest first", "random pairs"]);
  select.value = "random";
  select.dispatchEvent(new Event("change"));
  expect(page.connection.last).toEqual({ do: "choose", strategy: "random" });
});

it("counts what the person has said", () => {
  page.connection.tell(state({ counts: { together: 5, apart: 2, skipped: 1 } }));
  expect(text(".ml-question-footer span")).toBe("5 same, 2 different, 1 unsure");
});
