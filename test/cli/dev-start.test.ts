import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { devFolder } from "../../cli/profiles/dev-server.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { DevProcess } from "./dev-process.ts";
import { projectFolder, svc, writeFiles } from "./support.ts";

const runtime = commandRuntimes("node")[0] ?? "node";
const agent = { "agents/one.js": "export default () => 1;\n" };

test("ends after an error at its start, and starts again when the cause is removed", async () => {
  // The service refuses values of this length.
  const cwd = await projectFolder("one", { ...agent, ".env": `TOO_LONG=${"x".repeat(70_000)}\n` });
  const first = new DevProcess(runtime, cwd, ["--port", "0"]);
  const [code] = await once(first.child, "close");
  expect({ code, output: first.output }).toEqual({ code: 1, output: expect.stringMatching(/^error: /) });

  // The name is listed although the secret was never set.
  await rm(join(cwd, ".env"));
  const second = new DevProcess(runtime, cwd, ["--port", "0"]);
  await second.printed(/deployed/);
  expect(await second.stop("SIGTERM")).toBe(0);
});

test("starts after a secret of .env was removed with another command, and after a crash", async () => {
  const cwd = await projectFolder("one", { ...agent, ".env": "TOKEN=abc\n" });
  const first = new DevProcess(runtime, cwd, ["--port", "0"]);
  const [, base_url = ""] = await first.printed(/^address +(\S+)$/m);
  await first.printed(/deployed/);
  expect((await svc(runtime, ["secrets", "remove", "TOKEN"], { cwd })).code).toBe(0);
  await first.stop("SIGKILL");
  // Its process ID belongs to another process by now. In a container, 1 always does.
  const left = { base_url, api_key: "svc_left_0", pid: process.pid };
  await writeFiles(devFolder(cwd), { "connection.json": JSON.stringify(left) });

  await writeFile(join(cwd, ".env"), "");
  const second = new DevProcess(runtime, cwd, ["--port", "0"]);
  await second.printed(/deployed/);
  expect(await second.stop("SIGTERM")).toBe(0);
});
