// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { freePlace, placeBeside } from "../../src/panels/placing";
import type { Action } from "../../src/protocol";
import { change, hello, mount, named, state, type Mounted } from "./fixture";

let page: Mounted;
beforeEach(() => {
  localStorage.clear();
  page = mount();
});
afterEach(() => page.end());

const button = (name: string): HTMLButtonElement => named(page.root, "button", name);

function labeled<E extends HTMLElement>(label: string): E {
  const found = [...page.root.querySelectorAll("label")].find((element) => element.textContent === label)!;
  return document.getElementById(found.htmlFor) as E;
}

describe("toolbar", () => {
  it("lists views and methods, those that cannot be had with the reason", () => {
    const view = labeled<HTMLSelectElement>("View");
    expect(view.value).toBe("pca");
    expect([...view.options].map((option) => [option.text, option.disabled])).toEqual([
      ["Principal components", false],
      ["The view your links make", false],
      ["UMAP (umap-learn is not installed)", true],
      ["Springs (there are no edges)", true],
    ]);
    expect([...labeled<HTMLSelectElement>("Method").options].at(-1)?.text).toBe("CCIB (needs counts)");
  });

  it("asks for a view and chooses a method", () => {
    change(labeled("View"), "learned");
    expect(page.connection.last).toEqual({ do: "view", name: "learned" });
    change(labeled("Method"), "boost");
    expect(page.connection.last).toEqual({ do: "choose", method: "boost" });
  });

  it("chooses the number of groups, or none; refuses nonsense", async () => {
    const input = labeled<HTMLInputElement>("Number of groups");
    change(input, "4");
    expect(page.connection.last).toEqual({ do: "choose", n_clusters: 4 });
    input.focus();
    await page.connection.acknowledge();
    expect(input.value).toBe("4");
    page.connection.tell(state({ n_clusters: 4 }));
    expect(input.value).toBe("4");
    change(input, "-2");
    expect(input.value).toBe("4");
    change(input, "");
    expect(page.connection.last).toEqual({ do: "choose", n_clusters: null });
    expect(page.connection.sent).toHaveLength(2);
  });

  it("chooses the pin radius", () => {
    const input = labeled<HTMLInputElement>("Pin radius");
    expect(input.value).toBe("0.08");
    change(input, "0.2");
    expect(page.connection.last).toEqual({ do: "choose", eps: 0.2 });
    expect(page.root.querySelector("output")!.textContent).toBe("0.20");
  });

  it("chooses the mode by one of four buttons", () => {
    const pressed = (): (string | null)[] =>
      [...page.root.querySelectorAll(".ml-modes [aria-pressed=true]")].map((found) => found.getAttribute("aria-label"));
    expect(pressed()).toEqual(["Pan"]);
    for (const [name, mode] of [["Lasso", "lasso"], ["Link same", "same"], ["Link different", "different"]] as const) {
      button(name).click();
      expect(page.store.mode).toBe(mode);
      expect(pressed()).toEqual([name]);
    }
  });

  it("undoes and redoes", () => {
    expect(button("Redo (y)").disabled).toBe(true);
    button("Undo (z)").click();
    expect(page.connection.last).toEqual({ do: "undo" });
  });

  it("keeps the chosen theme", () => {
    expect(page.root.dataset["theme"]).toBe("light");
    button("Use the dark theme").click();
    expect(page.root.dataset["theme"]).toBe("dark");
    page.end();
    page = mount();
    expect(page.root.dataset["theme"]).toBe("dark");
    expect(button("Use the light theme")).toBeTruthy();
  });
});

describe("status and banner", () => {
  const status = (): string => page.root.querySelector(".ml-status-text")!.textContent!;
  const banner = (): HTMLElement => page.root.querySelector("[role=alert]")!;

  it("says how many groups there are when they are the first", () => {
    const shown = { method: "boost", title: "RobustBoostCluster", status: "final", n_changed: 6 } as const;
    page.connection.tell(state({ shown: { ...shown, text: "Groups by boost; 6 rows changed." } }));
    expect(status()).toBe("Groups by RobustBoostCluster: 2 groups.");
    page.connection.tell(state({ shown: { ...shown, n_changed: 5, text: "Groups by boost; 5 rows changed." } }));
    expect(status()).toBe("Groups by RobustBoostCluster; 5 rows changed.");
    const none = { ...shown, n_changed: 0, text: "No groups yet: link rows." };
    page.connection.tell(state({ groups: [], shown: { ...none, status: "instant" } }));
    expect(status()).toBe("No groups yet: link rows.");
    page.connection.tell(state({ groups: [], shown: { ...none, status: "working" } }));
    expect(status()).toContain("Computing the first groups");
  });

  it("says what is shown and what changed", () => {
    const few = { method: "boost", title: "RobustBoostCluster", status: "final", n_changed: 3, text: "" } as const;
    page.connection.tell(state({ shown: few }));
    expect(status()).toBe("RobustBoostCluster: 3 rows changed group.");
    const shown = { method: "instant", title: "SeededSingleLink", status: "working", n_changed: 1, text: "" } as const;
    page.connection.tell(state({ shown }));
    expect(status()).toBe("SeededSingleLink: 1 row changed group.");
    expect(page.root.querySelector<HTMLElement>(".ml-spinner")!.hidden).toBe(false);
    const text = "Groups by boost before the last links; 2 rows changed.";
    page.connection.tell(state({ shown: { ...shown, method: "boost", title: "RobustBoostCluster", text } }));
    expect(status()).toBe("Groups by RobustBoostCluster before the last links; 2 rows changed.");
    expect(page.root.textContent).toContain("computing the final result");
    page.connection.tell(state());
    expect(page.root.querySelector<HTMLElement>(".ml-spinner")!.hidden).toBe(true);
  });

  it("says that a step takes long", async () => {
    vi.useFakeTimers();
    button("Undo (z)").click();
    vi.advanceTimersByTime(1_000);
    expect(status()).not.toContain("Working");
    vi.advanceTimersByTime(1_000);
    expect(status()).toContain("Working on your last step");
    await page.connection.acknowledge();
    expect(status()).not.toContain("Working");
    vi.useRealTimers();
  });

  it("shows a sentence that is an error", () => {
    page.connection.tell({ type: "error", id: null, message: "The message was not understood." });
    expect(status()).toBe("The message was not understood.");
  });

  it("says where the answers are when the connection is lost, and goes away with it", () => {
    expect(banner().hidden).toBe(true);
    page.connection.lose();
    expect(banner().hidden).toBe(false);
    expect(banner().textContent).toBe(
      "The connection to the studio is lost; trying again. Answers are saved in customers.mustlink; " +
        "if the studio was stopped, start mustlink studio customers.mustlink.",
    );
    page.connection.setOpen();
    page.connection.tell(hello);
    expect(banner().hidden).toBe(true);
    page.connection.tell({ ...hello, file: "my rows.mustlink" });
    page.connection.lose();
    expect(banner().querySelector("code")!.textContent).toBe('mustlink studio "my rows.mustlink"');
    page.connection.close("The studio was closed; everything is saved. To continue, run: mustlink studio a.mustlink");
    expect(banner().textContent).toBe(
      "The studio was closed; everything is saved. To continue, run: mustlink studio a.mustlink",
    );
  });

  it("shows notices until they are dismissed", () => {
    const notices = (): string[] => [...page.root.querySelectorAll(".ml-notice span")].map((item) => item.textContent!);
    page.connection.tell(state({ notices: ["Two groups merged.", "Two groups merged.", "One row was left out."] }));
    expect(notices()).toEqual(["Two groups merged.", "One row was left out."]);
    button("Dismiss: Two groups merged.").click();
    page.connection.tell(state({ notices: ["Two groups merged."] }));
    expect(notices()).toEqual([]);
    page.connection.tell(state());
    page.connection.tell(state({ notices: ["Two groups merged."] }));
    expect(notices()).toEqual(["Two groups merged."]);
  });
});

describe("selected rows", () => {
  const bar = (): HTMLElement => named(page.root, "[role=region]", "Selected rows");
  const gap = (x: number, y: number, [, px, py]: readonly number[]): number => Math.hypot(x - px!, y - py!);

  it("is there while rows are selected", () => {
    expect(bar().hidden).toBe(true);
    page.store.select([2, 3]);
    expect(bar().hidden).toBe(false);
    expect(bar().textContent).toContain("2 rows selected");
    button("Clear").focus();
    button("Clear").click();
    expect(bar().hidden).toBe(true);
    expect(document.activeElement?.getAttribute("aria-label")).toBe("Map of the rows");
  });

  it("makes a new group away from every pin but near the rows", () => {
    const pins: [number, number, number][] = [[0, 0.55, 0.5]];
    page.connection.tell(state({ pins }));
    page.store.select([2, 3]);
    button("Make a new group").click();
    const { x, y, ...rest } = page.connection.last as { x: number; y: number };
    expect(rest).toEqual({ do: "move", rows: [2, 3], onto: null });
    expect(gap(x, y, pins[0]!)).toBeGreaterThan(1.4 * 0.08);
    expect(gap(x, y, pins[0]!)).toBeLessThan(5 * 0.08);
  });

  it("adds rows beside a pin of the group", () => {
    const pins: [number, number, number][] = [[0, 0.9, 0.9], [2, 0.94, 0.9]];
    page.connection.tell(state({ pins }));
    page.store.select([3, 4]);
    change(named<HTMLSelectElement>(page.root, "select", "Add to group"), "0");
    const { x, y, ...rest } = page.connection.last as { x: number; y: number };
    expect(rest).toEqual({ do: "move", rows: [3, 4], onto: null });
    expect(gap(x, y, pins[0]!) + 0.4 * 0.08).toBeLessThan(0.08);
    expect(gap(x, y, pins[1]!)).toBeGreaterThan(gap(x, y, pins[0]!));
  });

  it("adds rows to a group without pins beside its typical row, which is then pinned", () => {
    page.store.select([3]);
    change(named<HTMLSelectElement>(page.root, "select", "Add to group"), "0");
    const message = page.connection.last as { onto: number[]; x: number; y: number };
    expect(message.onto[0]).toBe(1);
    expect(message.onto[1]).toBeCloseTo(0.1);
    expect(gap(message.x, message.y, message.onto)).toBeLessThan(0.6 * 0.08);
  });

  it("unpins the pinned ones", () => {
    page.store.select([2, 3]);
    expect(button("Unpin").disabled).toBe(true);
    page.connection.tell(state({ pins: [[3, 0, 0]] }));
    button("Unpin").click();
    expect(page.connection.last).toEqual({ do: "unpin", rows: [3] });
  });

  it("goes by where rows are drawn, which the spring layout decides", () => {
    page.plot.places = Float32Array.of(0.7, 0.7, -0.7, 0.7, 0.2, 0.9, 0.3, 0.9, -0.9, -0.9, -0.8, -0.9);
    page.store.select([2, 3]);
    button("Make a new group").click();
    const made = page.connection.last as Extract<Action, { do: "move" }>;
    expect([made.x, made.y]).toEqual([expect.closeTo(0.25, 6), expect.closeTo(0.9, 6)]);
    change(named(page.root, "select", "Add to group"), "0");
    const added = page.connection.last as Extract<Action, { do: "move" }>;
    expect(added.onto).toEqual([1, expect.closeTo(-0.7, 6), expect.closeTo(0.7, 6)]);
  });

  it("places beside a pin outside of the box", () => {
    const beside = placeBeside({ x: 2.5, y: -1.5 }, [], 0.08);
    expect(gap(beside.x, beside.y, [0, 2.5, -1.5])).toBeCloseTo(0.04, 6);
  });

  it("places inside the box, also in a corner full of pins", () => {
    const pins = Array.from({ length: 30 }, (_, i) => [i, 1 - (i % 5) * 0.1, 1 - Math.floor(i / 5) * 0.1] as const);
    const free = freePlace({ x: 1.2, y: 1 }, pins, 0.08);
    expect(Math.max(Math.abs(free.x), Math.abs(free.y))).toBeLessThanOrEqual(1);
    expect(Math.min(...pins.map((pin) => gap(free.x, free.y, pin)))).toBeGreaterThan(2.2 * 0.08);
    const beside = placeBeside({ x: 1, y: 1 }, pins, 0.08);
    expect(gap(beside.x, beside.y, [0, 1, 1])).toBeLessThan(0.6 * 0.08);
  });
});

it("names every control", () => {
  page.store.select([1]);
  const controls = page.root.querySelectorAll<HTMLElement>("button, input, select");
  expect(controls.length).toBeGreaterThan(30);
  for (const control of controls) {
    const label = control.id && page.root.querySelector(`label[for="${control.id}"]`)?.textContent;
    const name = control.getAttribute("aria-label") || label || (control.tagName === "BUTTON" && control.textContent);
    expect(name, control.outerHTML).toBeTruthy();
  }
});
