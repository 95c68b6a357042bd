/** What a person does in the console. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { call, ended, ok } from "../support/rest.ts";
import { root } from "../support/runtimes.ts";
import type { ExecutionJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";
import {
  launch,
  lowContrasts,
  openConsole,
  phone,
  problems,
  seriousFaults,
  signIn,
  wide,
} from "./browser.ts";

/** Set to a folder, the tests write screenshots there. */
const shots = process.env.SCREENSHOTS;

const pages = ["overview", "executions", "run", "webhooks", "schedules", "deployments", "secrets", "keys"];

const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

onRuntime("node", "the console", {}, (server) => {
  let browser: Browser;
  let hookUrl = "";

  beforeAll(async () => {
    browser = await launch();
    const { webhooks } = await deploy(server, {
      agents: {
        triage: {
          code: `export default async (input, ctx) => {
            console.log("priority of", input.title);
            console.warn("slow");
            if (input.fail) throw new TypeError("title is missing");
            return { priority: "high", title: input.title };
          };`,
          description: "Sets the priority of an issue.",
          enable_retry: true,
          retry_policy: { max_retries: 1, strategy: "fixed", initial_delay: 0 },
          webhooks: [{ slug: "issue", field_mapping: { "issue.title": "title" } }],
        },
        greet: {
          code: `import { z } from "zod";
            export default { input: z.object({ name: z.string().min(2), loud: z.boolean().optional(), tags: z.array(z.string()).optional(), tone: z.enum(["warm", "dry"]) }),
              run: (input, ctx) => { ctx.log.info("greeting", { tone: input.tone }); return input; } };`,
        },
        second: {
          code: "export default (_, { attempt }) => { if (attempt < 2) throw new Error('not yet'); return attempt; };",
          enable_retry: true,
          retry_policy: { strategy: "fixed", initial_delay: 0 },
        },
        patient: `export default (_input, ctx) => new Promise((resolve) => {
          console.log("waiting");
          ctx.signal.addEventListener("abort", () => resolve(null));
        });`,
      },
      dependencies: ["zod"],
      workflows: {
        backlog: `export default async (input, ctx) => {
          const titles = ["one", "two"];
          return Promise.all(titles.map((title) => ctx.run("triage", { title }, { key: title })));
        };`,
      },
      schedules: { workflows: { backlog: { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" } } },
    });
    hookUrl = webhooks[0]?.url ?? "";
  });

  afterAll(() => browser?.close());

  let shared: Page | undefined;

  /** The overview in the session that the tests share: one of its own costs a process of the browser and a sign-in. */
  async function signedIn(): Promise<Page> {
    if (shared === undefined) {
      const page = await openConsole(browser, server);
      await signIn(page, server.apiKey);
      shared = page;
    }
    await shared.emulateMedia({ colorScheme: "light" });
    // Without state of the test before.
    await shared.goto("about:blank");
    problems(shared).length = 0;
    await shared.goto(`${server.url}/console/`);
    await heading(shared, "Overview");
    return shared;
  }

  async function run(name: string, input: object = {}): Promise<string> {
    const started = await ok<ExecutionJson>(server, "POST", "/api/v1/executions", { json: { name, input } });
    return started.execution_id;
  }

  const heading = (page: Page, name: string | RegExp) =>
    page.getByRole("heading", { level: 1, name }).waitFor();
  async function section(page: Page, name: string): Promise<void> {
    await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    await heading(page, name);
  }

  test("a wrong key is refused, and a right one opens the overview", async () => {
    const page = await openConsole(browser, server);
    await page.getByLabel("API key").fill("svc_wrong_0123456789abcdef");
    await page.getByRole("button", { name: "Sign in" }).click();
    expect(await page.getByRole("alert").textContent()).toMatch(/unknown, revoked or expired/);
    problems(page).length = 0;
    await signIn(page, server.apiKey);
    // The session is in a cookie that no script reads.
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.reload();
    await heading(page, "Overview");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    await page.reload();
    await page.getByLabel("API key").waitFor();
    await page.context().close();
  });

  test("runs an agent and shows its log and output live", async () => {
    const page = await signedIn();
    await section(page, "Run");
    await page.getByLabel("Agent or workflow").selectOption({ label: "triage (agent, production)" });
    await page.getByLabel("Input, a JSON object").fill(JSON.stringify({ title: "Crash" }));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await heading(page, "triage");
    await page.getByRole("log").getByText("priority of Crash").waitFor();
    await page.locator(".status.succeeded").first().waitFor();
    expect(await page.getByRole("region", { name: "output", exact: true }).textContent()).toContain(
      '"priority": "high"',
    );
    expect(problems(page)).toEqual([]);
  });

  test("offers a form for an input with a schema, and shows the violations of the service", async () => {
    const page = await signedIn();
    await page.goto(`${server.url}/console/#/run?name=greet`);
    await page.getByLabel("tone").selectOption("dry");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect(await page.locator(".field :invalid").count()).toBe(1);
    await page.getByLabel("name", { exact: true }).fill("Ada");
    await page.getByLabel("loud").check();
    await page.getByLabel("tags").fill('["a"]');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".status.succeeded").first().waitFor();
    await page.getByRole("log").getByText('{"tone":"dry"}').waitFor();
    expect(await page.getByRole("region", { name: "output", exact: true }).textContent()).toContain(
      '"loud": true',
    );
    expect(await page.getByRole("region", { name: "output", exact: true }).textContent()).toContain('"tags"');
    await page.goto(`${server.url}/console/#/run?name=greet&again`);
    await page.getByLabel("Input, a JSON object").fill('{"name": "A", "tone": "dry"}');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect(await page.getByRole("alert").textContent()).toMatch(/name/);
  });

  test("leads from a failing execution to its replay with another input", async () => {
    const page = await signedIn();
    const id = await run("triage", { fail: true });
    await ended(server, id);
    await section(page, "Executions");
    await page.getByLabel("Status").selectOption("failed");
    await page.getByLabel("Trigger").selectOption("schedule");
    await page.getByText("No execution matches the filters.").waitFor();
    await page.getByLabel("Trigger").selectOption("run");
    await page.getByLabel("Text").fill("title is missing");
    await page.getByLabel("Text").press("Enter");
    await page.waitForURL(/status=failed&trigger=run&text=title\+is\+missing$/);
    await page.getByLabel("Created").selectOption("range");
    await page.getByLabel("To", { exact: true }).fill("2001-01-01T00:00");
    await page.getByText("No execution matches the filters.").waitFor();
    await page.getByLabel("Created").selectOption("24");
    await page.locator(`a[href="#/executions/${id}"]`).click();
    await heading(page, "triage");
    await page.locator(".error-message", { hasText: "title is missing" }).waitFor();
    const source = page.getByRole("region", { name: "Source of the error" });
    expect(await source.locator(".failing").textContent()).toMatch(/^> +4 .*throw new TypeError/);
    await page.getByRole("heading", { name: "Failed attempts" }).waitFor();
    await page.getByRole("link", { name: "Replay with changes" }).click();
    await heading(page, "Replay triage");
    await page.getByLabel("Input, a JSON object").fill("[");
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    expect(await page.getByRole("alert").textContent()).toMatch(/not JSON/);
    await page.getByLabel("Input, a JSON object").fill(JSON.stringify({ title: "Fixed" }));
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.locator(".status.succeeded").first().waitFor();
    expect(await page.getByRole("region", { name: "output", exact: true }).textContent()).toContain(
      '"Fixed"',
    );
    expect(problems(page)).toEqual([]);
  });

  test("shows child executions on a timeline, and cancels a running execution", async () => {
    const page = await signedIn();
    const tree = await run("backlog");
    await page.goto(`${server.url}/console/#/executions/${tree}`);
    await page.getByRole("region", { name: "Timeline of child executions" }).waitFor();
    expect(await page.locator(".timeline tbody tr").count()).toBe(3);
    const id = await run("patient");
    await page.goto(`${server.url}/console/#/executions/${id}`);
    await page.getByRole("log").getByText("waiting").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.locator(".status.cancelled").first().waitFor();
    expect(problems(page)).toEqual([]);
  });

  test("leads from a rejected delivery to its cause", async () => {
    const page = await signedIn();
    const answer = await call(server, "POST", hookUrl, { body: "{", key: null });
    expect(answer.status).toBe(400);
    await section(page, "Webhooks");
    await page.getByText(hookUrl).waitFor();
    await page.getByText(/\d+ of \d+ left, \d+ per second/).waitFor();
    await page.getByLabel("Outcome").selectOption("rejected");
    await page.locator('a[href^="#/webhooks/dlv_"]').first().click();
    await heading(page, "Delivery to triage/issue");
    await page.locator(".error-message", { hasText: "must be JSON" }).waitFor();
  });

  test("tries a mapping on a payload, and redelivers selected deliveries", async () => {
    for (const title of ["first", "last"]) {
      await call(server, "POST", hookUrl, { json: { issue: { title, labels: ["bug"] } }, key: null });
    }
    const page = await signedIn();
    await section(page, "Webhooks");
    await page.getByRole("link", { name: "Try a mapping" }).click();
    await heading(page, "Mapping of triage/issue");
    const input = page.getByRole("region", { name: "input", exact: true });
    await input.getByText('"title": "last"').waitFor();
    await page.getByRole("button", { name: "Add an entry" }).click();
    await page.getByLabel("Path 2").fill("issue.labels[3]");
    await page.getByLabel("Parameter 2").fill("label");
    await page.getByText("issue.labels has 1 element").waitFor();
    await page.getByLabel("Path 2").fill("issue.labels[0]");
    await input.getByText('"label": "bug"').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await section(page, "Webhooks");
    await page.getByLabel("Outcome").selectOption("accepted");
    await page.locator(".status.rejected").first().waitFor({ state: "detached" });
    const boxes = page.getByRole("checkbox", { name: /^Select dlv_/ });
    await boxes.nth(1).waitFor();
    for (const index of [0, 1]) await boxes.nth(index).check();
    await page.getByRole("button", { name: "Redeliver 2" }).click();
    await page.getByLabel("Mapping and code of").selectOption("active");
    await page.getByRole("dialog").getByRole("button", { name: "Redeliver 2" }).click();
    await page.getByText("2 of 2 redelivered").waitFor();
    expect(await page.getByRole("region", { name: "Redelivered" }).getByRole("link").count()).toBe(2);
    expect(problems(page)).toEqual([]);
  });

  test("compares two executions, and an execution with its children's log", async () => {
    const page = await signedIn();
    await section(page, "Executions");
    await page.locator(".loading").waitFor({ state: "detached" });
    const [a, b] = [await run("triage", { title: "one" }), await run("triage", { title: "two" })];
    const tree = await run("backlog");
    for (const id of [a, b, tree]) await ended(server, id);
    // The list is live.
    await page.locator(`a[href="#/executions/${tree}"]`).waitFor();
    await page.goto(`${server.url}/console/#/executions/${a}`);
    await page.getByRole("link", { name: "Compare" }).click();
    await heading(page, "Compare triage");
    await page.getByLabel("Compared with").selectOption(b);
    const output = page.getByRole("region", { name: "Differences of the output" });
    await output.getByText("two", { exact: true }).waitFor();
    expect(await output.textContent()).toBe("titleonetwo");
    expect(await seriousFaults(page)).toEqual([]);
    await page.goto(`${server.url}/console/#/executions/${tree}`);
    await page.getByLabel("With the entries of child executions").check();
    await page.getByRole("log").getByText("priority of two").waitFor();
    expect(problems(page)).toEqual([]);
  });

  test("compares a deployment with any other", async () => {
    const code = "export default () => 1;";
    const first = await deploy(server, { name: "other", agents: { stays: code, goes: code } });
    await deploy(server, { name: "other", version: "2.0.0", agents: { stays: code } });
    const last = await deploy(server, {
      name: "other",
      version: "3.0.0",
      agents: { stays: code, comes: code },
    });
    const page = await signedIn();
    await page.goto(`${server.url}/console/#/deployments/${last.deployment_id}`);
    await page.getByText("agents/comes.ts").first().waitFor();
    expect(await page.locator(".changes").getByText("removed").count()).toBe(0);
    await page.getByLabel("Compared with").selectOption(first.deployment_id);
    await page.locator(".changes .removed").first().waitFor();
    expect(page.url()).toContain(`compare=${first.deployment_id}`);
    expect(problems(page)).toEqual([]);
  });

  test("pauses and resumes a schedule", async () => {
    const page = await signedIn();
    await section(page, "Schedules");
    await page.getByRole("link", { name: "backlog" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator(".status.paused").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator(".status.active").waitFor();
    expect(problems(page)).toEqual([]);
  });

  test("sets and removes a secret, creates and revokes a key", async () => {
    const page = await signedIn();
    await section(page, "Secrets");
    await page.getByLabel("Name").fill("GITHUB_SECRET");
    await page.getByLabel("Value").fill("hunter2-hunter2");
    await page.getByRole("button", { name: "Set", exact: true }).click();
    await page.getByText("GITHUB_SECRET", { exact: true }).waitFor();
    expect(await page.content()).not.toContain("hunter2");
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No secrets are set.").waitFor();
    await section(page, "Keys");
    await page.getByLabel("Name").fill("ci");
    await page.getByLabel("Scope").selectOption("read");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const token = (await page.locator(".token code").textContent()) ?? "";
    const other = await openConsole(browser, server);
    await signIn(other, token);
    const row = page.getByRole("row", { name: /^ci/ });
    await row.getByRole("button", { name: "Revoke" }).click();
    await row.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.locator(".status.revoked").waitFor();
    // The sessions of the key end too.
    await other.getByLabel("API key").waitFor();
    await other.context().close();
  });

  test("a key of the scope read sees no actions", async () => {
    const json = { name: "reader", scope: "read" };
    const { token } = await ok<{ token: string }>(server, "POST", "/api/v1/keys", { json });
    const page = await openConsole(browser, server);
    await signIn(page, token);
    const id = await run("patient");
    await page.goto(`${server.url}/console/#/executions/${id}`);
    await heading(page, "patient");
    expect(await page.getByRole("button", { name: /Cancel|Replay/ }).count()).toBe(0);
    await section(page, "Run");
    await page.getByText("needs the scope trigger").waitFor();
    await ok(server, "POST", `/api/v1/executions/${id}/cancel`, { json: {} });
    await page.context().close();
  });

  test("markup in values and logs stays text", async () => {
    const page = await signedIn();
    const id = await run("triage", { title: hostile });
    await page.goto(`${server.url}/console/#/executions/${id}`);
    await page.getByRole("log").getByText(`priority of ${hostile}`).waitFor();
    await page.getByRole("region", { name: "output", exact: true }).getByText("onerror").waitFor();
    expect(await page.locator("img, script:not([src])").count()).toBe(0);
    expect(await page.title()).not.toBe("owned");
    expect(problems(page)).toEqual([]);
  });

  test("works in a browser whose language is not a language tag", async () => {
    const page = await openConsole(browser, server, { locale: "en-US@posix" });
    await signIn(page, server.apiKey);
    await page.getByText("succeeded").first().waitFor();
    await page.context().close();
  });

  test("shows the failed attempt of an execution that succeeded", async () => {
    const page = await signedIn();
    const id = await run("second", {});
    await ended(server, id);
    await page.goto(`${server.url}/console/#/executions/${id}`);
    await page.locator(".status.succeeded").first().waitFor();
    await page.getByRole("region", { name: "Failed attempts" }).getByText("not yet").waitFor();
  });

  test("removes the secret of one environment and keeps that of the organization", async () => {
    await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "of-all-of-them" } });
    await ok(server, "PUT", "/api/v1/secrets/TOKEN", {
      json: { value: "of-staging-only", environment: "staging" },
    });
    const page = await signedIn();
    await section(page, "Secrets");
    const row = page.getByRole("row", { name: /^TOKEN staging/ });
    await row.getByRole("button", { name: "Remove" }).click();
    await row.getByText("Remove the secret TOKEN of staging?").waitFor();
    await row.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("row", { name: /^TOKEN all/ }).waitFor();
    await ok(server, "DELETE", "/api/v1/secrets/TOKEN");
  });

  test("works for an environment, whose pages have their own address", async () => {
    const page = await openConsole(browser, server, { path: "/env/staging/console" });
    await signIn(page, server.apiKey);
    expect(page.url()).toBe(`${server.url}/env/staging/console/`);
    await page.getByText("Nothing is deployed yet.").waitFor();
    await page.context().close();
  });

  test("has no serious fault for assistive technology, in light and in dark colours", async () => {
    const page = await signedIn();
    const tree = await run("backlog");
    await ended(server, tree);
    const faults: string[] = [];
    for (const path of [...pages, `executions/${tree}`]) {
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(`${server.url}/console/#/${path}`);
      await page.locator("h1").first().waitFor();
      await page.locator(".loading").waitFor({ state: "detached" });
      faults.push(...(await seriousFaults(page)).map((fault) => `${path}: ${fault}`));
      // The colours are all that differs.
      await page.emulateMedia({ colorScheme: "dark" });
      faults.push(...(await lowContrasts(page)).map((fault) => `${path}, dark: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  describe.runIf(shots !== undefined)("screenshots", () => {
    test.each([
      ["wide", wide, "light"],
      ["wide", wide, "dark"],
      ["phone", phone, "light"],
      ["phone", phone, "dark"],
    ] as const)("%s", async (name, view, theme) => {
      mkdirSync(shots ?? join(root, "screenshots"), { recursive: true });
      const page = await openConsole(browser, server, { view, theme });
      await page.screenshot({ path: join(shots ?? "", `sign-in-${name}-${theme}.png`) });
      await signIn(page, server.apiKey);
      const tree = await run("backlog");
      const more = [
        `executions/${tree}`,
        `executions/compare?a=${tree}&b=${await run("backlog")}`,
        "webhooks/mapping?name=triage&slug=issue",
      ];
      for (const one of [...pages, ...more]) {
        await page.goto(`${server.url}/console/#/${one}`);
        await page.locator("h1").first().waitFor();
        await page.locator(".loading").waitFor({ state: "detached" });
        await page.waitForTimeout(500);
        const file = `${one.split("?")[0]?.replace("/", "-").slice(0, 18)}-${name}-${theme}.png`;
        await page.screenshot({ path: join(shots ?? "", file), fullPage: true });
      }
      await page.context().close();
    });
  });
});
