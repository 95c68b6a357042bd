/** The frame of all pages: navigation, environment, session. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, consoleOf, environment } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { href, route } from "../lib/router.ts";
import { type Session, signOut } from "../lib/session.ts";
import { setTheme, type Theme, theme } from "../lib/theme.ts";

const sections = [
  ["overview", "Overview"],
  ["executions", "Executions"],
  ["run", "Run"],
  ["webhooks", "Webhooks"],
  ["schedules", "Schedules"],
  ["deployments", "Deployments"],
  ["secrets", "Secrets"],
  ["keys", "Keys"],
] as const;

export function Layout({ session, children }: { session: Session; children: ComponentChildren }) {
  const { path } = route.use();
  const current = path[0] ?? "overview";
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const place = path.join("/");
  // After each navigation.
  useEffect(() => {
    setOpen(false);
    window.scrollTo(0, 0);
  }, [place]);
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <button
          type="button"
          class="menu"
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        >
          Menu
        </button>
        <a class="brand" href={href(["overview"])}>
          svc
        </a>
        <span class="organization">{session.organization}</span>
        <EnvironmentMenu />
      </header>
      <nav id="navigation" class={open ? "nav open" : "nav"} aria-label="Sections">
        <ul>
          {sections.map(([name, title]) => (
            <li key={name}>
              <a href={href([name])} aria-current={name === current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
        <div class="account">
          <ThemeMenu />
          <p>
            Key <strong>{session.key_name}</strong>
            <br />
            scope {session.scope} · svc {session.version}
          </p>
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

/** The environments that have deployments. */
function EnvironmentMenu() {
  const { data = [] } = useLoad(async (signal) => {
    const { deployments } = await api.deployments.listDeployments(
      { status: "active", pageSize: 1000 },
      { signal },
    );
    return [...new Set(deployments.map((one) => one.environment))];
  }, "environments");
  const names = [...new Set(["production", ...data, environment])].filter(Boolean).toSorted();
  return (
    <label class="environment">
      <span>Environment</span>
      <select
        value={environment}
        onChange={(event) => location.assign(consoleOf(event.currentTarget.value) + location.hash)}
      >
        <option value="">all</option>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function ThemeMenu() {
  const value = theme.use();
  return (
    <label class="theme">
      <span>Theme</span>
      <select value={value} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
        <option value="system">system</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
    </label>
  );
}
