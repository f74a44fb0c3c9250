// The studio with random rows: npm run dev, then /dev/?rows=100000&edges=1

import { mountStudio } from "../src/main";
import "../src/styles/index.css";
import { FakeConnection } from "./fake";

const given = new URLSearchParams(location.search);
const root = document.getElementById("studio");
if (root) {
  const theme = given.get("theme");
  if (theme) root.dataset["theme"] = theme;
  if (given.has("webgl")) root.dataset["points"] = "webgl";
  mountStudio(
    root,
    new FakeConnection({
      rows: Number(given.get("rows") ?? 2_000),
      groups: Number(given.get("groups") ?? 5),
      edges: given.has("edges"),
    }),
  );
}
