// Light or dark: as the system says, until the person chooses.

export type Theme = "light" | "dark";

const KEY = "mustlink-theme";

/** What the browser keeps between visits; a notebook or a private window may refuse to. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It is then valid for this visit only.
  }
}

export interface ThemeSwitch {
  readonly theme: Theme;
  toggle(): void;
  destroy(): void;
}

/** Set `data-theme` on the root and keep it right; `onChange` is called at once and after every change. */
export function followTheme(root: HTMLElement, onChange: (theme: Theme) => void): ThemeSwitch {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = recall(KEY) ?? root.dataset["theme"];
  let chosen: Theme | null = kept === "light" || kept === "dark" ? kept : null;
  const now = (): Theme => chosen ?? (system.matches ? "dark" : "light");

  function apply(): void {
    if (root.dataset["theme"] !== now()) root.dataset["theme"] = now();
    onChange(now());
  }

  system.addEventListener("change", apply);
  apply();
  return {
    get theme() {
      return now();
    },
    toggle() {
      chosen = now() === "dark" ? "light" : "dark";
      keep(KEY, chosen);
      apply();
    },
    destroy: () => system.removeEventListener("change", apply),
  };
}
