/** `svc/client` on each runtime against a server on the same runtime. */
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { run } from "../plugin/runtimes.ts";
import { deploy } from "../support/project.ts";
import { commandOf } from "../support/runtimes.ts";
import { onEveryRuntime } from "../support/suite.ts";
import { agents, cases, type Input } from "./cases.ts";

onEveryRuntime("svc/client", {}, (server) => {
  const results = new Map<string, string | null>();
  let output = "";

  beforeAll(async () => {
    const { webhooks } = await deploy(server, { agents });
    const input: Input = { url: server.url, apiKey: server.apiKey, hookUrl: webhooks[0]?.url ?? "" };
    const [program, ...args] = commandOf(server.runtime);
    const main = join(import.meta.dirname, "main.ts");
    const { code, stdout, stderr } = await run([program, ...args, main, JSON.stringify(input)]);
    output = `exit ${code}\n${stdout}${stderr}`;
    for (const line of stdout.split("\n").filter(Boolean)) {
      const { name, error } = JSON.parse(line) as { name: string; error: string | null };
      results.set(name, error);
    }
  });

  test.each(cases.map(({ name }) => name))("%s", (name) => {
    expect(results.has(name), output).toBe(true);
    expect(results.get(name)).toBeNull();
  });

  test("leaves no open stream, no timer and no unhandled rejection", () => {
    expect(output).toMatch(/^exit 0\n/);
  });
});
