// The colors that the canvases take from the styles.

export interface Theme {
  dark: boolean;
  back: string;
  text: string;
  quiet: string;
  line: string;
  accent: string;
  danger: string;
  font: string;
}

export function readTheme(root: HTMLElement): Theme {
  const style = getComputedStyle(root);
  const color = (name: string): string => style.getPropertyValue(`--ml-${name}`).trim();
  return {
    dark: isDark(root),
    back: color("back"),
    text: color("text"),
    quiet: color("quiet"),
    line: color("line"),
    accent: color("accent"),
    danger: color("danger"),
    font: color("font"),
  };
}

/** Whether the root is shown dark: by its own choice, or else by the system's. */
export function isDark(root: HTMLElement): boolean {
  const chosen = root.dataset["theme"];
  return chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** Call `fn` when the theme changes; the returned function ends it. */
export function watchTheme(root: HTMLElement, fn: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(fn);
  observer.observe(root, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", fn);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", fn);
  };
}

export function isMotionReduced(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
