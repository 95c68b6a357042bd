import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Runtime } from "../support/runtimes.ts";
import { svc, temporaryFolder } from "./support.ts";

test("svc open uses BROWSER or the opener of the platform, and names the address of a service without a console", async () => {
  let hasConsole = true;
  const server = createServer((request, response) => {
    const isFound = hasConsole && /^(?:\/env\/staging)?\/console$/.test(request.url ?? "");
    response.writeHead(isFound ? 200 : 404, {
      "Content-Type": isFound ? "text/html; charset=utf-8" : "text/plain",
    });
    response.end();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bin = await temporaryFolder();
  const opener = `#!/bin/sh\nprintf '%s' "$*" > '${bin}/opened'\n`;
  await writeFile(join(bin, "browse"), opener, { mode: 0o755 });
  await writeFile(join(bin, "xdg-open"), opener, { mode: 0o755 });
  const open = (args: string[] = [], env: Record<string, string> = {}, runtime: Runtime = "node") =>
    svc(runtime, ["open", ...args], {
      env: {
        SVC_API_KEY: "svc_a_0",
        SVC_BASE_URL: `${url}/env/staging`,
        PATH: `${bin}:${process.env.PATH}`,
        ...env,
      },
    });
  const opened = () => readFile(join(bin, "opened"), "utf8");

  expect(await open(["--print"])).toEqual({ code: 0, stdout: `${url}/console\n`, stderr: "" });
  expect((await open(["--print", "-e", "staging"])).stdout).toBe(`${url}/env/staging/console\n`);
  expect((await open([], { BROWSER: `${bin}/browse --new-tab` })).code).toBe(0);
  expect(await opened()).toBe(`--new-tab ${url}/console`);
  await rm(join(bin, "opened"));
  if (process.platform === "linux") {
    expect(await open()).toEqual({ code: 0, stdout: "", stderr: `✔ Opened ${url}/console\n` });
    expect(await opened()).toBe(`${url}/console`);
  }
  for (const runtime of ["node", "deno"] as const) {
    const missing = await open([], { BROWSER: "/no/browser" }, runtime);
    expect(missing.stderr).toMatch(
      /^error: Cannot open a browser with \/no\/browser: it is not installed\.\nhint: {2}Open http/,
    );
    expect(missing.code).toBe(1);
  }
  hasConsole = false;
  expect(await open()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `The service at ${url} has no web console: ${url}/console returned HTTP 404.`,
    ),
  });
});
