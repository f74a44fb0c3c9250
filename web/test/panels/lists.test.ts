// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { reason } from "../../src/panels/links";
import { change, link, mount, named, panels, pressKey, settle, state, type Mounted } from "./fixture";

let page: Mounted;
beforeEach(() => (page = mount()));
afterEach(() => page.end());

const texts = (selector: string): string[] =>
  [...page.root.querySelectorAll(selector)].map((element) => element.textContent ?? "");
const button = (name: string): HTMLButtonElement => named(page.root, "button", name);

describe("tabs", () => {
  const tab = (name: string): HTMLElement => named(page.root, "[role=tab]", name);
  const shown = (): string[] =>
    [...page.root.querySelectorAll<HTMLElement>("[role=tabpanel]")]
      .filter((panel) => !panel.hidden)
      .map((panel) => document.getElementById(panel.getAttribute("aria-labelledby")!)!.textContent!);

  it("shows one panel, by click and by arrows", () => {
    expect(shown()).toEqual(["Groups"]);
    tab("Links").click();
    expect(shown()).toEqual(["Links"]);
    pressKey("ArrowRight", {}, tab("Links"));
    expect(shown()).toEqual(["Columns"]);
    expect(document.activeElement).toBe(tab("Columns"));
    pressKey("End", {}, tab("Columns"));
    pressKey("ArrowRight", {}, tab("Export"));
    expect(shown()).toEqual(["Groups"]);
    pressKey("ArrowLeft", {}, tab("Groups"));
    expect(shown()).toEqual(["Export"]);
  });

  it("has one tab in the tab order", () => {
    tab("History").click();
    const inOrder = [...page.root.querySelectorAll<HTMLElement>("[role=tab]")].filter((element) => element.tabIndex === 0);
    expect(inOrder).toEqual([tab("History")]);
  });
});

describe("groups", () => {
  const name = (id: number): HTMLInputElement => named(page.root, "input", `Name of group ${id}`);

  it("lists the largest first, with traits and typical rows", () => {
    expect([...page.root.querySelectorAll<HTMLInputElement>(".ml-group-name")].map((input) => input.value)).toEqual([
      "Group 2",
      "regulars",
    ]);
    expect(texts(".ml-group-head .number")).toEqual(["4 rows", "2 rows"]);
    expect(texts(".ml-traits li")).toEqual(["age is high"]);
    button("row 1").click();
    expect(page.store.selection).toEqual([1]);
  });

  it("renames inline; Escape and an empty name change nothing", () => {
    name(1).focus();
    name(1).value = "half";
    pressKey("Escape", {}, name(1));
    expect(name(1).value).toBe("regulars");
    change(name(1), "  ");
    expect(name(1).value).toBe("regulars");
    expect(page.connection.sent).toHaveLength(0);
    change(name(1), " <i>old</i> ");
    expect(page.connection.last).toEqual({ do: "rename", group: 0, name: "<i>old</i>" });
  });

  it("keeps what is being typed when a new state comes, and the focus when groups change places", () => {
    name(1).focus();
    name(1).value = "half typed";
    page.connection.tell(
      state({
        groups: [
          { id: 0, name: "regulars", size: 5, locked: false },
          { id: 1, name: "Group 2", size: 1, locked: true },
        ],
      }),
    );
    expect(name(1).value).toBe("half typed");
    expect(document.activeElement).toBe(name(1));
  });

  it("locks, unlocks and selects", () => {
    expect(button("Lock Group 2").getAttribute("aria-pressed")).toBe("true");
    button("Lock Group 2").click();
    expect(page.connection.last).toEqual({ do: "lock", group: 1, locked: false });
    button("Lock regulars").click();
    expect(page.connection.last).toEqual({ do: "lock", group: 0, locked: true });
    button("Select rows of Group 2").click();
    expect(page.store.selection).toEqual([2, 3, 4, 5]);
  });

  it("says so when there are none", () => {
    page.connection.tell(state({ groups: [] }));
    expect(page.root.textContent).toContain("There are no groups yet.");
  });
});

describe("links", () => {
  const links = [
    link(0, 1, { suspicion: 0.3 }),
    link(2, 3, { together: false, source: "file", kept: false, suspicion: 0.6 }),
    link(4, 5, { source: "drawn", suspicion: 0.9 }),
    link(1, 2, { source: "pin", together: false }),
    link(3, 4, { source: "fixed", kept: false }),
  ];
  const shown = (): string[] => texts(".ml-link-names").map((text) => text.replace(/\s+/g, " "));
  const filter = (label: string): HTMLInputElement => named(page.root, "[aria-label]", label);
  beforeEach(() => page.connection.tell(state({ links, n_links: 5 })));

  it("puts suspects first, then broken links, with the reason", () => {
    expect(shown()).toEqual([
      "row 4 same group as row 5",
      "row 2 different group from row 3",
      "row 3 same group as row 4",
      "row 0 same group as row 1",
      "row 1 different group from row 2",
    ]);
    expect(texts(".ml-link.suspect .ml-link-why")).toEqual(links.slice(1, 3).reverse().map(reason));
    expect(reason(links[2]!)).toContain("90%");
    expect(texts(".ml-link .ml-tag.danger")).toEqual(["\u2717 broken", "\u2717 broken"]);
  });

  it("calls no link broken whose rows have no group yet", () => {
    page.connection.tellLabels([0, 0, 1, 65535, 65535, 1]);
    expect(texts(".ml-link .ml-tag.danger")).toEqual([]);
    expect(texts(".ml-link .ml-tag").filter((text) => text === "no group yet")).toHaveLength(3);
    change(filter("Kind of link"), "broken");
    expect(shown()).toEqual([]);
  });

  it("filters by text, kind and source", () => {
    change(filter("Filter links by row"), "ROW 4");
    expect(shown()).toHaveLength(2);
    change(filter("Filter links by row"), "");
    change(filter("Kind of link"), "different");
    expect(shown()).toHaveLength(2);
    change(filter("Source of link"), "pin");
    expect(shown()).toEqual(["row 1 different group from row 2"]);
    expect(page.root.textContent).toContain("1 found of 5 links, 2 may be wrong.");
    change(filter("Kind of link"), "broken");
    expect(shown()).toEqual([]);
  });

  it("deletes, unpins, and leaves fixed links alone", () => {
    button("Delete row 0: same group as row 1 (answered)").click();
    expect(page.connection.last).toEqual({ do: "unlink", a: 0, b: 1 });
    // A link that keeps two places apart would come back between other rows of them.
    expect(button("Unpin both row 1: different group from row 2 (pinned)").hidden).toBe(true);
    page.connection.tell(state({ links: [link(2, 4, { source: "pin" }), ...page.store.state!.links], n_links: 6 }));
    button("Unpin both row 2: same group as row 4 (pinned)").click();
    expect(page.connection.last).toEqual({ do: "unpin", rows: [2, 4] });
    expect(button("Delete row 3: same group as row 4 (fixed by a column)").hidden).toBe(true);
    button("Show on map row 0: same group as row 1 (answered)").click();
    expect(page.store.selection).toEqual([0, 1]);
  });

  it("lists a hundred, and more on demand", () => {
    const many = Array.from({ length: 250 }, (_, i) => link(i, i + 1));
    page.connection.tell(state({ links: many, n_links: 3000 }));
    expect(shown()).toHaveLength(100);
    expect(page.root.textContent).toContain("3,000 links, the first 250 are listed.");
    button("Show more").click();
    button("Show more").click();
    expect(shown()).toHaveLength(250);
    expect(button("Show more").hidden).toBe(true);
  });
});

describe("columns", () => {
  it("sorts by weight, the heaviest being the whole bar", () => {
    expect(texts(".ml-column-row")).toEqual(["note100%", "age50%"]);
    const bars = [...page.root.querySelectorAll<HTMLElement>(".ml-column-row .ml-bar > span")];
    expect(bars.map((bar) => bar.style.width)).toEqual(["100%", "50%"]);
  });

  it("says what will be here before there are links", () => {
    page.connection.tell({ ...panels, columns: [] });
    expect(page.root.textContent).toContain("After some links, this shows which columns");
  });
});

it("says in the export panel that the final result is not there yet", () => {
  const note = [...page.root.querySelectorAll<HTMLElement>(".ml-panel .ml-fine")].find((element) => element.textContent!.startsWith("The final"))!;
  expect(note.hidden).toBe(true);
  page.connection.tell(state({ shown: { ...state().shown, status: "working" } }));
  expect(note.hidden).toBe(false);
});

describe("history", () => {
  it("lists the newest step first", () => {
    const history = [1, 2, 3].map((n) => ({ n, text: `step ${n}`, when: "2026-01-02T03:04:05Z" }));
    page.connection.tell(state({ history: history.map((step) => ({ ...step, n: step.n + 300 })) }));
    expect(page.root.textContent).toContain("303 steps, newest first (the last 3 are listed);");
    page.connection.tell(state({ history }));
    expect(texts("ol .ml-step-text")).toEqual(["step 3", "step 2", "step 1"]);
    button("Undo last step").click();
    expect(page.connection.last).toEqual({ do: "undo" });
    expect(button("Redo step").disabled).toBe(true);
  });

  it("saves and restores snapshots", async () => {
    const name = named<HTMLInputElement>(page.root, "input", "Name of the snapshot");
    name.value = " before lunch ";
    name.form!.requestSubmit();
    expect(page.connection.last).toEqual({ do: "snapshot", name: "before lunch" });
    await page.connection.acknowledge();
    expect(name.value).toBe("");
    page.connection.tell(state({ snapshots: [{ name: "before lunch", when: "2026-01-02T03:04:05Z" }] }));
    button("Restore before lunch").click();
    expect(page.connection.last).toEqual({ do: "restore", name: "before lunch" });
  });
});

describe("export", () => {
  it("hands the file to the browser under its name", async () => {
    const saved: [string, string][] = [];
    URL.createObjectURL = vi.fn(() => "blob:x");
    const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      saved.push([this.download, this.href]);
    });
    button("Labels").click();
    expect(page.connection.last).toEqual({ do: "export", what: "labels" });
    page.connection.tell({ type: "file", id: page.connection.lastId, name: "labels.csv", media: "text/csv", text: "a" });
    await settle();
    expect(saved).toEqual([["labels.csv", "blob:x"]]);
    expect(page.root.textContent).toContain("labels.csv was handed to the browser.");
    click.mockRestore();
  });

  it("shows why it failed", async () => {
    button("Python").click();
    page.connection.tell({ type: "error", id: page.connection.lastId, message: "There are no groups yet to export." });
    await settle();
    expect(texts(".ml-export-list + p")).toEqual(["There are no groups yet to export."]);
    expect(button("Python").disabled).toBe(false);
  });
});
