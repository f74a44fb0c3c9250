// The export panel: files that the browser saves.

import type { ExportWhat } from "../protocol";
import type { Store } from "../store";
import { make, makeButton, setText } from "./element";

const FILES: [ExportWhat, string, string][] = [
  ["labels", "Labels", "The group of every row, as a CSV file."],
  ["links", "Links", "The links that you, files, pins and locks gave, not those of columns, as a CSV file that mustlink reads."],
  ["report", "Report", "Groups, links and columns on one HTML page."],
  ["python", "Python", "The script that computes the groups again; while a final result is being computed, the groups of that."],
  ["log", "Log", "Every step with its time, as JSON."],
];

const EARLY = "The final result is still being computed: files that are saved now hold the groups that are shown now.";

/** Hand a text to the browser as a file. */
export function download(name: string, media: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: media }));
  const anchor = make("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  // The browser needs the address until it has begun to save.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function makeExportPanel(store: Store): HTMLElement {
  const said = make("p", { class: "ml-fine", role: "status" });

  function save(what: ExportWhat, button: HTMLButtonElement): void {
    button.disabled = true;
    setText(said, "Preparing the file\u2026");
    store
      .ask({ do: "export", what })
      .then(
        (file) => {
          download(file.name, file.media, file.text);
          setText(said, `${file.name} was handed to the browser.`);
        },
        (error: unknown) => setText(said, error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        button.disabled = false;
        button.focus();
      });
  }

  const items = FILES.map(([what, title, about]) => {
    const button = makeButton({ class: "ml-button", onclick: () => save(what, button) }, title);
    return make("li", { class: "ml-export" }, button, make("span", { class: "ml-fine" }, about));
  });
  const note = make("p", { class: "ml-fine" }, EARLY);
  const show = (): void => {
    note.hidden = store.state?.shown.status !== "working";
  };
  store.subscribe("state", show);
  show();
  return make(
    "div",
    { class: "ml-panel" },
    note,
    make("ul", { class: "ml-export-list" }, ...items),
    said,
  );
}
