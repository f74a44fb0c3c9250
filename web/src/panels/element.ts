// Small functions that make and update elements. Text enters the page as text only, never as HTML.

export type Child = Node | string | null | undefined | false;
type Listener = (event: never) => void;
export type Attributes = Record<string, string | number | boolean | null | undefined | Listener>;

const SVG = "http://www.w3.org/2000/svg";
let count = 0;

/** A name that no other element of the page has, for `for`, `aria-labelledby` and the like. */
export function uniqueId(what: string): string {
  count += 1;
  return `mustlink-${what}-${count}`;
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as unknown as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child);
  }
}

/**
 * Make an element. Attributes that start with "on" are listeners; `true` sets an empty attribute, `false` and `null`
 * leave it out. Strings among the children become text.
 */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/** Make an element of a drawing. */
export function makeSvg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/** A button; it never submits a form. */
export function makeButton(attributes: Attributes, ...children: Child[]): HTMLButtonElement {
  return make("button", { type: "button", ...attributes }, ...children);
}

/** The name of a button with its key, which is not shown where there is no keyboard. */
export function nameWithKey(name: string, key: string): HTMLElement {
  return make("span", {}, name, make("span", { class: "ml-key" }, ` (${key})`));
}

/** Set a text only if it differs, so that screen readers do not read it twice. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** The element that has the focus, also inside a shadow root. */
export function focusedElement(near: Node): HTMLElement | null {
  const root = near.getRootNode();
  const focused = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
  return focused instanceof HTMLElement ? focused : null;
}

/** Spell a number and what it counts: "1 row", "1,200 rows". */
export function spellCount(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

export interface Entry<Item> {
  element: HTMLElement;
  update(item: Item): void;
}

/** Children of one parent, one per item, kept by key so that focus and typed text outlive an update. */
export class KeyedList<Item> {
  private readonly entries = new Map<string, Entry<Item>>();

  constructor(
    private readonly parent: HTMLElement,
    private readonly keyOf: (item: Item) => string,
    private readonly create: (item: Item) => Entry<Item>,
  ) {}

  update(items: readonly Item[]): void {
    const focused = focusedElement(this.parent);
    const hadFocus = focused !== null && this.parent.contains(focused);
    const unused = new Set(this.entries.keys());
    let place = this.parent.firstElementChild;
    for (const item of items) {
      const key = this.keyOf(item);
      unused.delete(key);
      let entry = this.entries.get(key);
      if (entry === undefined) {
        entry = this.create(item);
        this.entries.set(key, entry);
      }
      entry.update(item);
      if (entry.element === place) place = place.nextElementSibling;
      else this.parent.insertBefore(entry.element, place);
    }
    for (const key of unused) {
      this.entries.get(key)?.element.remove();
      this.entries.delete(key);
    }
    if (hadFocus) this.restoreFocus(focused);
  }

  /** Moving an element takes its focus; removing it hands the focus to the nearest list, not to the page's start. */
  private restoreFocus(focused: HTMLElement): void {
    if (focusedElement(this.parent) === focused) return;
    if (focused.isConnected) focused.focus({ preventScroll: true });
    else this.parent.querySelector<HTMLElement>("button, input, select")?.focus({ preventScroll: true });
  }
}
