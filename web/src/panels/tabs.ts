// Tabs after the WAI-ARIA pattern: one is in the tab order, arrows, Home and End move between them.

import { make, makeButton, uniqueId } from "./element";

export interface TabPart {
  title: string;
  content: HTMLElement;
}

export interface Tabs {
  element: HTMLElement;
  /** Show one of the tabs by its title. */
  show(title: string): void;
}

export function makeTabs(label: string, parts: TabPart[]): Tabs {
  const tabs = parts.map(({ title }) =>
    makeButton({ role: "tab", id: uniqueId("tab"), class: "ml-tab", onclick: () => show(title) }, title),
  );
  const panels = parts.map(({ content }, i) => {
    const panel = make("div", {
      role: "tabpanel",
      id: uniqueId("tabpanel"),
      class: "ml-tab-panel",
      tabindex: 0,
      "aria-labelledby": tabs[i]!.id,
    });
    panel.append(content);
    tabs[i]!.setAttribute("aria-controls", panel.id);
    return panel;
  });

  function show(title: string): void {
    parts.forEach((part, i) => {
      const isShown = part.title === title;
      tabs[i]!.setAttribute("aria-selected", String(isShown));
      tabs[i]!.tabIndex = isShown ? 0 : -1;
      panels[i]!.hidden = !isShown;
    });
  }

  function move(event: KeyboardEvent): void {
    const now = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const steps: Record<string, number> = {
      ArrowRight: (now + 1) % tabs.length,
      ArrowLeft: (now - 1 + tabs.length) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    show(parts[next]!.title);
    tabs[next]!.focus();
  }

  show(parts[0]!.title);
  const list = make("div", { role: "tablist", "aria-label": label, class: "ml-tab-list", onkeydown: move }, ...tabs);
  return { element: make("div", { class: "ml-tabs" }, list, ...panels), show };
}
