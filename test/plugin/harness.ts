import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../support/runtimes.ts";
import { runCase, type SuiteInput } from "./context.ts";
import { commandFor, run } from "./runtimes.ts";
import { startServers, type TestServers } from "./server.ts";
import { cases } from "./suite/index.ts";

/** Runs the suite in this process, which must be Node. */
export function testHere(): void {
  let servers: TestServers;
  let input: SuiteInput;
  beforeAll(async () => {
    servers = await startServers();
    const tls = await import("node:tls");
    tls.setDefaultCACertificates([...tls.getCACertificates("bundled"), servers.authority]);
    input = inputFor("node", servers);
  });
  afterAll(() => servers.close());
  describe("plugin on node", () => {
    for (const testCase of cases) test(testCase.name, () => runCase(input, testCase));
  });
}

/** Runs the suite in a process of another runtime and reports each case as a test. */
export function testElsewhere(runtime: Runtime): void {
  const results = new Map<string, string | null>();
  let output = "";
  beforeAll(async () => {
    const servers = await startServers();
    const folder = mkdtempSync(join(tmpdir(), "svc-plugin-authority-"));
    const authority = join(folder, "authority.pem");
    writeFileSync(authority, servers.authority);
    const main = join(import.meta.dirname, "main.ts");
    const { code, stdout, stderr } = await run(
      [...commandFor(runtime), main, JSON.stringify(inputFor(runtime, servers))],
      { env: { NODE_EXTRA_CA_CERTS: authority, DENO_CERT: authority } },
    );
    output = `exit ${code}\n${stderr}`;
    for (const line of stdout.split("\n").filter(Boolean)) {
      const { name, error } = JSON.parse(line) as { name: string; error: string | null };
      results.set(name, error);
    }
    servers.close();
    rmSync(folder, { recursive: true });
  }, 120_000);
  describe(`plugin on ${runtime}`, () => {
    for (const { name } of cases) {
      test(name, () => {
        if (!results.has(name)) throw new Error(`the case did not run: ${output}`);
        expect(results.get(name)).toBe(null);
      });
    }
  });
}

function inputFor(
  runtime: Runtime,
  { mainPort, otherPort, securePort, controlUrl }: TestServers,
): SuiteInput {
  return { runtime, mainPort, otherPort, securePort, controlUrl };
}
