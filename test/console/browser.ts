/** Chromium with the console of a server. */
import chromium from "@sparticuz/chromium";
import axe from "axe-core";
import { type Browser, type Page, chromium as playwright } from "playwright-core";
import { expect } from "vitest";
import type { TestServer } from "../support/server.ts";

export async function launch(): Promise<Browser> {
  return await playwright.launch({
    executablePath: await chromium.executablePath(),
    // Not the arguments of the package: they turn off the protections of the browser.
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu"],
    headless: true,
  });
}

export interface View {
  width: number;
  height: number;
}

export const wide: View = { width: 1280, height: 900 };
export const phone: View = { width: 390, height: 844 };

/** A page of its own session. Errors of the page, and violations of its content security policy, fail the test. */
export async function openConsole(
  browser: Browser,
  server: Pick<TestServer, "url">,
  options: { view?: View; theme?: "light" | "dark"; path?: string; locale?: string } = {},
): Promise<Page> {
  const { view = wide, theme = "light", path = "/console/", locale = "en-US" } = options;
  const context = await browser.newContext({ viewport: view, colorScheme: theme, locale });
  const page = await context.newPage();
  // A busy machine takes long to answer. The limit of a test is 60 s.
  page.setDefaultTimeout(45_000);
  page.on("pageerror", (error) => problems(page).push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("401")) problems(page).push(message.text());
  });
  await page.goto(server.url + path);
  return page;
}

const known = new WeakMap<Page, string[]>();

/** What went wrong in the page. */
export function problems(page: Page): string[] {
  const list = known.get(page) ?? [];
  known.set(page, list);
  return list;
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(problems(page)).toEqual([]);
}

/** Serious and critical faults that axe finds in the page. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await faultsOf(page, "axe.run()");
}

/** Texts whose contrast is too low. Call `seriousFaults` before: it loads axe into the page. */
export async function lowContrasts(page: Page): Promise<string[]> {
  return await faultsOf(page, 'axe.run({ runOnly: ["color-contrast"] })');
}

async function faultsOf(page: Page, expression: string): Promise<string[]> {
  const results = (await page.evaluate(expression)) as axe.AxeResults;
  return results.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target.join(" ")}`));
}
