// A modal dialog: takes the focus, keeps it, closes with Escape, gives it back.

import { focusedElement, make, uniqueId, type Child } from "./element";

export interface Dialog {
  element: HTMLElement;
  close(): void;
}

interface DialogOptions {
  role: "dialog" | "alertdialog";
  title: string;
  /** The part that is read out when the dialog opens. */
  description?: HTMLElement;
  body: Child[];
  /** The buttons, in the order of the tab key; the one to focus first has the attribute autofocus. */
  buttons: HTMLButtonElement[];
  /** Called when Escape or a click beside the dialog closes it. */
  onDismiss(): void;
}

const FOCUSABLE = "button:not(:disabled), input:not(:disabled), select:not(:disabled), [tabindex='0']";

export function openDialog(root: HTMLElement, options: DialogOptions): Dialog {
  const before = focusedElement(root);
  const title = make("h2", { id: uniqueId("title"), class: "ml-dialog-title" }, options.title);
  const box = make(
    "div",
    { role: options.role, "aria-modal": "true", "aria-labelledby": title.id, class: "ml-dialog", tabindex: -1 },
    title,
    options.description,
    make("div", { class: "ml-dialog-body" }, ...options.body),
    make("div", { class: "ml-dialog-buttons" }, ...options.buttons),
  );
  if (options.description !== undefined) {
    options.description.id ||= uniqueId("description");
    box.setAttribute("aria-describedby", options.description.id);
  }
  const veil = make("div", { class: "ml-veil", onclick: dismissBeside, onkeydown: handleKey }, box);
  // The rest of the page is out of reach while the dialog is open, also for a screen reader's cursor.
  const behind = [...root.children].filter((child) => child instanceof HTMLElement && !child.inert) as HTMLElement[];
  for (const element of behind) element.inert = true;
  root.append(veil);
  (box.querySelector<HTMLElement>("[autofocus]") ?? box).focus();

  function close(): void {
    if (!veil.isConnected) return;
    veil.remove();
    for (const element of behind) element.inert = false;
    if (before?.isConnected) before.focus({ preventScroll: true });
  }

  function dismiss(): void {
    close();
    options.onDismiss();
  }

  function dismissBeside(event: MouseEvent): void {
    if (event.target === veil) dismiss();
  }

  function handleKey(event: KeyboardEvent): void {
    // Keys of the page behind must not act while the dialog is open.
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      dismiss();
    } else if (event.key === "Tab") keepInside(event);
  }

  function keepInside(event: KeyboardEvent): void {
    const reachable = [...box.querySelectorAll<HTMLElement>(FOCUSABLE)];
    const first = reachable[0];
    const last = reachable[reachable.length - 1];
    if (first === undefined || last === undefined) return;
    const focused = focusedElement(root);
    const isOutside = focused === null || !reachable.includes(focused);
    if (event.shiftKey && (isOutside || focused === first)) {
      event.preventDefault();
      last.focus();
    } else if (!event.shiftKey && (isOutside || focused === last)) {
      event.preventDefault();
      first.focus();
    }
  }

  return { element: box, close };
}
