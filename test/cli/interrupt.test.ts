/** Ctrl-C while a command works. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { bareEnvironment, commandOf, commandRuntimes } from "../support/runtimes.ts";
import { projectFolder, svc, temporaryFolder, useService } from "./support.ts";

/** A server of the test's own, and its address. */
async function listen(handler: (response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer((_, response) => handler(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

describe.each(commandRuntimes("node"))("Ctrl-C on %s", (runtime) => {
  const service = useService(runtime);

  test("while the service deploys says that the deployment may become active", async () => {
    let kill = (_: NodeJS.Signals): void => {};
    const waiting: ServerResponse[] = [];
    // The first request is that of the check before the upload.
    const url = await listen((response) => {
      waiting.push(response);
      if (waiting.length === 1) response.end();
      else kill("SIGINT");
    });
    const cwd = await projectFolder("mistake", {
      "agents/mistake.js": `await fetch("${url}");\nexport default () => 1;\n`,
    });
    const { code, stderr } = await svc(runtime, ["push", "--force"], {
      cwd,
      env: service.env,
      onOutput: (_, signal) => {
        kill = signal;
      },
    });
    for (const response of waiting) response.end();
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: expect.stringMatching(
        /\nDetached\. The service continues to deploy\.\nhint: {2}Run `svc deployments --project mistake` to see the result\.\n$/,
      ),
    });
  });

  test("while a package is downloaded leaves no file", async () => {
    const folder = await temporaryFolder();
    const requested = Promise.withResolvers<void>();
    const url = await listen((response) => {
      response.write("begin");
      requested.resolve();
    });
    const [program, ...before] = commandOf(runtime);
    const script = fileURLToPath(new URL("download-main.ts", import.meta.url));
    const child = spawn(program, [...before, script, join(folder, "package.tar.gz"), url], {
      env: bareEnvironment(),
      stdio: "inherit",
    });
    await requested.promise;
    expect(readdirSync(folder)).toHaveLength(1);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
