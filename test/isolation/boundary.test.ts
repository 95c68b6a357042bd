/** The choice of the boundary around runners, and its effect on executions, with a server on Bun, which starts fastest. */
import { spawnSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { deploy, tryDeploy } from "../support/project.ts";
import { expectError, ok, runToEnd } from "../support/rest.ts";
import { bareEnvironment, commandOf, commandRuntimes, root } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";
import type { HealthJson } from "../support/shapes.ts";

const hasBubblewrap = spawnSync("bwrap", ["--version"]).status === 0;
if (!hasBubblewrap) console.log("bwrap is not installed: the boundaries with bubblewrap are not tested.");

async function startServer(env: Record<string, string>): Promise<TestServer> {
  const server = new TestServer("bun", { env });
  onTestFinished(() => server.discard(false));
  await server.start();
  return server;
}

const fetchAgent = `export default async ({ url }) => {
  try {
    const response = await fetch(url);
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { refused: String(error?.cause?.message ?? error.message) };
  }
};`;

describe("the network of runners", () => {
  let web: Server;
  beforeAll(async () => {
    web = createServer((_, response) => response.end("reached"));
    await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
  });
  afterAll(() => web.close());
  const url = (): string => `http://127.0.0.1:${(web.address() as AddressInfo).port}/`;

  const boundaries = [
    ...commandRuntimes("node").map((runner) => ({ runner, sandbox: "bwrap", text: "bubblewrap" })),
    { runner: "deno", sandbox: "none", text: "Deno permissions" },
  ];
  describe.each(boundaries)("on $runner with SVC_SANDBOX=$sandbox", ({ runner, sandbox, text }) => {
    const skipped = sandbox === "bwrap" && !hasBubblewrap;
    const env = { SVC_RUNNER: runner, SVC_SANDBOX: sandbox, SVC_RUNNER_NETWORK: "public" };

    test.skipIf(skipped)("excludes loopback addresses by default", async () => {
      const server = await startServer(env);
      expect((await ok<HealthJson>(server, "GET", "/health")).isolation).toContain(text);
      await deploy(server, { agents: { get: fetchAgent } });
      const { output } = await runToEnd(server, "get", { url: url() });
      expect(output).not.toMatchObject({ text: "reached" });
    });

    test.skipIf(skipped)(
      "includes the addresses that the operator opens, and only listed hosts",
      async () => {
        const server = await startServer({ ...env, SVC_RUNNER_NETWORK: "127.0.0.1" });
        await deploy(server, { agents: { get: fetchAgent } });
        expect((await runToEnd(server, "get", { url: url() })).output).toEqual({
          status: 200,
          text: "reached",
        });
        await deploy(server, { agents: { get: fetchAgent }, network: ["api.github.com"] });
        expect((await runToEnd(server, "get", { url: url() })).output).not.toMatchObject({ text: "reached" });
        await deploy(server, { agents: { get: fetchAgent }, network: ["127.0.0.1"] });
        expect((await runToEnd(server, "get", { url: url() })).output).toMatchObject({ text: "reached" });
      },
    );
  });

  test("cannot be restricted on Node without a sandbox, so that a project with 'network' is rejected", async () => {
    const server = await startServer({ SVC_RUNNER: "node", SVC_SANDBOX: "none" });
    const answer = await tryDeploy(server, { agents: { get: fetchAgent }, network: [] });
    expectError(answer, 409, "failed_precondition", /'network'.*cannot enforce it/);
  });
});

describe("several organizations", () => {
  const createOrganization = (dataDir: string): string => {
    const [program, ...args] = commandOf("node");
    const { status, stderr, stdout } = spawnSync(
      program,
      [...args, join(root, "cli/main.ts"), "admin", "organizations", "create", "Second", "--data", dataDir],
      { encoding: "utf8", env: bareEnvironment() },
    );
    return status === 0 ? stdout : stderr;
  };
  const weak = { SVC_RUNNER: "node", SVC_SANDBOX: "none", SVC_ALLOW_UNSANDBOXED: "0" };

  test("are refused by svc admin while a server without a sufficient boundary runs, and at its next start", async () => {
    const server = await startServer(weak);
    expect(createOrganization(server.dataDir)).toContain("Cannot add an organization: the boundary around");
    await server.kill("SIGTERM");
    expect(createOrganization(server.dataDir)).toMatch(/^svc_/);
    await expect(server.start()).rejects.toThrow(
      /the data folder has 2 organizations, .* does not stop malicious/,
    );
  });

  test("are accepted with runners on Deno", async () => {
    const server = await startServer({ ...weak, SVC_RUNNER: "deno" });
    expect(createOrganization(server.dataDir)).toMatch(/^svc_/);
    await server.kill("SIGTERM");
    await server.start();
    await deploy(server, { agents: { greet: "export default () => 'hello';" } });
    expect((await runToEnd(server, "greet")).output).toBe("hello");
  });
});

describe("svc serve", () => {
  const rejects = async (env: Record<string, string>, message: RegExp): Promise<void> => {
    const server = new TestServer("bun", { env });
    onTestFinished(() => server.discard(false));
    await expect(server.start()).rejects.toThrow(message);
  };

  test("rejects a runtime, a sandbox and a network that it does not know", async () => {
    await rejects(
      { SVC_RUNNER: "python" },
      /Cannot use SVC_RUNNER: it must be one of node, bun, deno, not 'python'/,
    );
    await rejects({ SVC_SANDBOX: "docker" }, /Cannot use SVC_SANDBOX: it must be one of auto, bwrap, none/);
    await rejects(
      { SVC_RUNNER_NETWORK: "10.0.0.0/40" },
      /Cannot use SVC_RUNNER_NETWORK: .* not '10.0.0.0\/40'/,
    );
  });

  test("names a missing program of the runners' runtime", async () => {
    await rejects(
      { SVC_RUNNER: "bun", SVC_RUNNER_PATH: "/nowhere/bun" },
      /there is no program 'bun' at \/nowhere\/bun/,
    );
  });

  test("names a runtime that is too old", async () => {
    await rejects(
      { SVC_RUNNER: "deno", SVC_RUNNER_PATH: "/bin/true" },
      /is version .*, and 2.9 or later is needed/,
    );
  });

  test("refuses SVC_SANDBOX=bwrap where bubblewrap is not installed", async () => {
    const env = { PATH: join(root, "node_modules/.bin"), SVC_SANDBOX: "bwrap" };
    await rejects(env, /Cannot run agents inside bubblewrap: .*bwrap.* is not installed/);
  });
});
