/** Light or dark, by the choice of the person or of the system. */
import { signal } from "./signal.ts";

export type Theme = "system" | "light" | "dark";

const storageKey = "svc-theme";

function stored(): Theme {
  try {
    const value = localStorage.getItem(storageKey);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

export const theme = signal<Theme>(stored());

export function setTheme(value: Theme): void {
  theme.set(value);
  try {
    localStorage.setItem(storageKey, value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  applyTheme();
}

export function applyTheme(): void {
  const value = theme.get();
  if (value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}
