/** `svc/client` in Chromium, from a page of another origin. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import chromium from "@sparticuz/chromium";
import { build } from "esbuild";
import { type Browser, chromium as playwright } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { root } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";

let script = "";
/** The origins of two sites. The service allows the first. */
const sites: Server[] = [];
const originOf = (site: Server | undefined) => {
  return `http://127.0.0.1:${(site?.address() as AddressInfo | null)?.port}`;
};
let server: TestServer;
let browser: Browser;
let hookUrl = "";

const setUp = async () => {
  const bundled = await build({
    stdin: { contents: 'export * from "./client/index.ts";', resolveDir: root },
    ...{ bundle: true, format: "iife", globalName: "svc", platform: "browser", write: false },
  });
  script = bundled.outputFiles[0]?.text ?? "";
  for (let n = 0; n < 2; n++) {
    const site = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Site</title>");
    });
    await once(site.listen(0, "127.0.0.1"), "listening");
    sites.push(site);
  }
  server = new TestServer("node", { env: { SVC_CORS_ORIGINS: originOf(sites[0]) } });
  await server.start();
  const code =
    "export default (input) => { console.log('in the browser'); if (input.fail) throw new Error('no'); return input; };";
  const { webhooks } = await deploy(server, { agents: { echo: { code, webhooks: [{ slug: "hook" }] } } });
  hookUrl = webhooks[0]?.url ?? "";
  browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    // Not the arguments of the package: they turn off CORS, and closing a page would end the browser.
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu"],
    headless: true,
  });
};

/** Runs the body of an asynchronous function in a page; `client`, `svc` and `hookUrl` are defined. */
async function evaluate<T>(site: Server | undefined, body: string): Promise<T> {
  const page = await browser.newPage();
  try {
    await page.goto(originOf(site));
    await page.addScriptTag({ content: script });
    const values = JSON.stringify({ baseUrl: server.url, apiKey: server.apiKey, retry: { attempts: 1 } });
    return await page.evaluate<T>(
      `(async () => { const hookUrl = ${JSON.stringify(hookUrl)}; const client = svc.createClient(${values}); ${body} })()`,
    );
  } finally {
    await page.close();
  }
}

// The package of Chromium is for Linux.
describe.skipIf(process.platform !== "linux")("svc/client in Chromium", () => {
  beforeAll(setUp, 60_000);
  afterAll(async () => {
    await browser?.close();
    await server?.discard(false);
    for (const site of sites) site.close();
  });

  test("runs, watches, follows logs and lists", async () => {
    const result = await evaluate(
      sites[0],
      `const output = await client.run("echo", { a: 1 }, { idempotencyKey: "browser" });
      const { executionId } = await client.start("echo", {});
      const lines = [];
      for await (const event of client.watch(executionId)) if (event.type === "log") lines.push(event.log.message);
      const following = client.logs({ follow: true, lines: 1 });
      const followed = (await following.next()).value !== undefined;
      await following.return();
      let listed = 0;
      for await (const execution of client.list({ pageSize: 1 })) if (execution.createdAt instanceof Date) listed++;
      return { output, lines, followed, listed };`,
    );
    expect(result).toEqual({
      output: { a: 1 },
      lines: expect.arrayContaining(["in the browser"]),
      followed: true,
      listed: 2,
    });
  });

  test("triggers webhooks and reads their headers", async () => {
    const result = await evaluate(
      sites[0],
      `const first = await client.trigger(hookUrl, { b: 2 }, { waitSeconds: 30, idempotencyKey: "browser" });
      const again = await client.trigger(hookUrl, { b: 2 }, { idempotencyKey: "browser" });
      return [first.output, first.replayed, again.replayed, again.executionId === first.executionId];`,
    );
    expect(result).toEqual([{ b: 2 }, false, true, true]);
  });

  test("throws typed errors", async () => {
    const result = await evaluate(
      sites[0],
      `const errors = [];
      for (const call of [client.run("echo", { fail: true }), client.get("exe_0"), client.trigger(hookUrl + "x")]) {
        const error = await call.catch((thrown) => thrown);
        errors.push([svc.isSvcError(error), error.code, error.reason]);
      }
      return errors;`,
    );
    expect(result).toEqual([
      [true, "internal", "EXECUTION_FAILED"],
      [true, "not_found", expect.any(String)],
      [true, "not_found", expect.any(String)],
    ]);
  });

  test("reaches nothing from a site that the service does not allow", async () => {
    const result = await evaluate(
      sites[1],
      'return await client.run("echo", {}).then(() => "ran", (error) => error.reason);',
    );
    expect(result).toBe("UNREACHABLE");
  });
});
