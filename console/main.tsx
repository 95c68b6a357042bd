/** The web console. */
import { render } from "preact";
import { App } from "./app.tsx";
import { loadSession } from "./lib/session.ts";
import { applyTheme } from "./lib/theme.ts";
import "./style.css";

applyTheme();
const root = document.getElementById("app");
addEventListener("error", ({ message }) => {
  if (root !== null && root.childElementCount === 0)
    root.textContent = `The console cannot start: ${message}`;
});
if (root !== null) render(<App />, root);
void loadSession();
