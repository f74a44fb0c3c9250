// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Card } from "../src/plot/card";
import { Drawn } from "../src/plot/drawn";
import { Keys } from "../src/plot/keys";
import type { MapView } from "../src/plot/map";
import { Pointers } from "../src/plot/pointer";
import type { Action } from "../src/protocol";
import { mount, pressKey, type Mounted } from "./panels/fixture";

let page: Mounted;
let map: MapView;
beforeEach(() => {
  page = mount();
  const drawn = new Drawn();
  drawn.setBase(page.store.shownPositions!, false, 0);
  const element = page.root.querySelector<HTMLElement>("[aria-label='Map of the rows']")!;
  const parts = { element, surface: element, store: page.store, drawn, cursor: null, redraw: () => {} };
  map = parts as unknown as MapView;
  const card = { hide: () => {} } as unknown as Card;
  new Keys(map, card, new Pointers(map, card), () => {});
});
afterEach(() => page.end());

const pressOnMap = (key: string): void => pressKey(key, {}, map.element);

it("answers the question by s and d on the map, also with two rows selected", () => {
  page.store.select([3, 4]);
  pressOnMap("d");
  expect(page.connection.last).toEqual({ do: "answer", a: 0, b: 1, together: false });
});

it.each([
  ["3", true],
  ["4", false],
])("links two rows by Enter after %s", (mode, together) => {
  pressOnMap(mode);
  for (const row of [3, 5]) {
    map.cursor = row;
    pressOnMap("Enter");
  }
  expect(page.connection.sent).toHaveLength(1);
  expect(page.connection.last).toEqual({ do: "link", a: 3, b: 5, together } satisfies Action);
});
