// The theme, dark or light: the system's, until the reader chooses.
import { signal } from "./signal";

export type Theme = "light" | "dark";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const storageKey = "warplens-theme";

// Files opened from disk may have no storage; then the choice lasts as long as the page.
function stored(): Theme | null {
  try {
    const value = localStorage.getItem(storageKey);
    return value === "dark" || value === "light" ? value : null;
  } catch {
    return null;
  }
}

export const theme = signal<Theme>(stored() ?? (system.matches ? "dark" : "light"));

export function startTheme() {
  const apply = () => (document.documentElement.dataset.theme = theme.value);
  apply();
  theme.subscribe(apply);
  system.addEventListener("change", () => stored() || theme.set(system.matches ? "dark" : "light"));
  // Paper is white.
  window.addEventListener("beforeprint", () => (document.documentElement.dataset.theme = "light"));
  window.addEventListener("afterprint", apply);
}

export function toggleTheme() {
  const next = theme.value === "dark" ? "light" : "dark";
  theme.set(next);
  try {
    localStorage.setItem(storageKey, next);
  } catch {
    // Without storage only this page keeps the choice.
  }
}

/** Returns a colour of the theme, for drawing on a canvas. */
export const themeColor = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
