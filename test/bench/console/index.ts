/**
 * `npm run bench:console [-- --executions 1000000 --rounds 11 --data DIR --json]`: the console in Chromium, with a million executions in
 * the store. Measures the first load, with an empty cache, up to the drawn overview, and interactions from the click to the
 * frame that shows their result. Prints milliseconds, median and maximum of the rounds.
 * `--data` keeps the filled store in a folder for the next run.
 */
import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { launch, openConsole, signIn, wide } from "../../console/browser.ts";
import { deploy } from "../../support/project.ts";
import { call } from "../../support/rest.ts";
import { TestServer } from "../../support/server.ts";
import { fill, rareTarget } from "./fill.ts";

const { values } = parseArgs({
  options: {
    executions: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "11" },
    data: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const [executions, rounds] = [Number(values.executions), Number(values.rounds)];

interface Step {
  name: string;
  /** Of the address, to start from. */
  from: string;
  /** An expression that is true once the page to start from is shown. */
  ready: string;
  /** Statements that act as a person would. */
  act: string;
  done: string;
}

const rows = "document.querySelectorAll('main tbody tr')";
const select = (label: string, value: string) => `
  const label = [...document.querySelectorAll('label')].find((one) => one.firstChild.textContent.trim() === '${label}');
  const field = label.querySelector('select, input');
  field.value = '${value}';
  field.dispatchEvent(new Event('change', { bubbles: true }));`;
const link = (title: string) => `
  [...document.querySelectorAll('nav a')].find((one) => one.textContent === '${title}').click();`;
const every = (column: number, text: string) =>
  `${rows}.length >= 50 && [...${rows}].every((row) => row.cells[${column}].textContent === '${text}')`;
const list = `${rows}.length === 50`;
const overview =
  "document.querySelectorAll('canvas').length === 3 && document.querySelector('main tbody tr') !== null";

const steps: Step[] = [
  {
    name: "overview: from 1 h to 24 h",
    from: "overview",
    ready: overview,
    act: "window.before = document.querySelector('.tile .value').textContent; document.querySelectorAll('.periods input')[1].click();",
    done: "document.querySelector('.tile .value').textContent !== window.before",
  },
  {
    name: "executions: open the list",
    from: "overview",
    ready: overview,
    act: link("Executions"),
    done: list,
  },
  {
    name: "executions: filter by status",
    from: "executions",
    ready: list,
    act: select("Status", "failed"),
    done: every(1, "failed"),
  },
  {
    name: "executions: filter by name",
    from: "executions",
    ready: list,
    act: select("Name", "agent-3"),
    done: every(2, "agent-3"),
  },
  {
    name: "executions: filter by trigger",
    from: "executions",
    ready: list,
    act: select("Trigger", "schedule"),
    done: every(3, "schedule"),
  },
  {
    name: "executions: filter by text, one of 50",
    from: "executions",
    ready: list,
    act: select("Text", "properties of undefined"),
    done: every(1, "failed"),
  },
  {
    name: "executions: a name that few have, first progress",
    from: "executions",
    ready: list,
    act: select("Name", rareTarget),
    done: "document.querySelector('.searched') !== null",
  },
  {
    name: "executions: next page",
    from: "executions",
    ready: list,
    act: "document.querySelector('.more button').click();",
    done: `${rows}.length === 100`,
  },
  {
    name: "execution: open",
    from: "executions",
    ready: list,
    act: `${rows}[20].querySelector('a').click();`,
    done: "document.querySelector('[aria-label=input]') !== null",
  },
  {
    name: "webhooks: open",
    from: "executions",
    ready: list,
    act: link("Webhooks"),
    done: `document.querySelector('h1').textContent === 'Webhooks' && ${rows}.length > 20`,
  },
  {
    name: "webhooks: rejected deliveries",
    from: "webhooks",
    ready: `${rows}.length > 20`,
    act: select("Outcome", "rejected"),
    done: `${rows}.length === 2`,
  },
  {
    name: "deployments: open",
    from: "executions",
    ready: list,
    act: link("Deployments"),
    done: `${rows}.length === 1`,
  },
];

const isFilled = values.data !== undefined && existsSync(join(values.data, "svc.db"));
const server = new TestServer("node", {
  env: { SVC_API_KEY: "svc_bench_0123456789abcdef0123456789" },
  stores: "embedded",
  ...(values.data !== undefined && { dataDir: values.data }),
});
const browser = await launch();
try {
  await server.start();
  if (!isFilled) await prepare();
  const results = [await firstLoad(), ...(await interactions())];
  if (values.json) console.log(JSON.stringify({ executions, rounds, loadAverage: loadavg(), results }));
} finally {
  await browser.close();
  if (values.data === undefined) await server.discard(false);
  else await server.kill("SIGTERM");
}

async function prepare(): Promise<void> {
  const { webhooks } = await deploy(server, {
    agents: { "agent-0": { code: "export default (input) => input;", webhooks: [{ slug: "in" }] } },
  });
  await call(server, "POST", webhooks[0]?.url ?? "", { body: "{", key: null });
  await server.kill("SIGTERM");
  const startMs = performance.now();
  fill(server.dataDir, executions);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  if (!values.json) console.log(`${executions} executions stored in ${seconds} s`);
  await server.start();
}

interface Result {
  name: string;
  medianMs: number;
  maxMs: number;
}

async function firstLoad(): Promise<Result> {
  const page = await openConsole(browser, server);
  await signIn(page, server.apiKey);
  const storageState = await page.context().storageState();
  await page.context().close();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext({ viewport: wide, locale: "en-US", storageState });
    const loading = await context.newPage();
    await loading.goto(`${server.url}/console/`, { waitUntil: "commit" });
    times.push(await measure(loading, "", overview, "0"));
    await context.close();
  }
  return report("first load, up to the drawn overview", times);
}

async function interactions(): Promise<Result[]> {
  const page = await openConsole(browser, server);
  await signIn(page, server.apiKey);
  const results: Result[] = [];
  for (const { name, from, ready, act, done } of steps) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await page.goto("about:blank");
      await page.goto(`${server.url}/console/#/${from}`);
      await measure(page, "", ready);
      times.push(await measure(page, act, done));
    }
    results.push(report(name, times));
  }
  return results;
}

/** Milliseconds from the action, or a given time, to the frame after the one in which the condition is met. */
async function measure(page: Page, act: string, done: string, from = "performance.now()"): Promise<number> {
  return (await page.evaluate(`new Promise((resolve) => {
    const startMs = ${from};
    {${act}}
    const look = () => {
      if (!(${done})) return requestAnimationFrame(look);
      requestAnimationFrame(() => resolve(performance.now() - startMs));
    };
    look();
  })`)) as number;
}

function report(name: string, times: readonly number[]): Result {
  const sorted = times.toSorted((a, b) => a - b);
  const medianMs = Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
  const maxMs = Math.round(sorted.at(-1) ?? 0);
  if (!values.json) console.log(`${name.padEnd(52)} ${medianMs} ms, at most ${maxMs} ms`);
  return { name, medianMs, maxMs };
}
