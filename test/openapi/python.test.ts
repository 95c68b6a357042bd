/**
 * A Python program drives the service from the document alone. No generator of Python code is available from npm or
 * Debian without a network, so `client.py` interprets the document at run time.
 */
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { useServer } from "../support/suite.ts";

const server = useServer("bun");

function hasPython(): boolean {
  try {
    execFileSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!hasPython())("operations, requests and responses match the document", async () => {
  const code =
    "export default (input) => { console.log('hi'); if (input.fail) throw new Error('no'); return input; };";
  await deploy(server, { agents: { echo: { code, webhooks: [{ slug: "hook" }] } } });
  const program = join(import.meta.dirname, "client.py");
  const { stdout } = await promisify(execFile)("python3", [program, server.url, server.apiKey]);
  const results = Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  expect(results).toEqual({
    watched: true,
    got: ["succeeded", { a: [1, null] }],
    listed: 1,
    missing: 404,
    queued: 202,
    waited: [200, { b: 2 }],
    failed: 500,
    unknown: 404,
    set: "TOKEN",
    secrets: ["TOKEN"],
    deleted: 200,
    deployment: 200,
    download: 307,
    health: "ok",
    alive: 200,
    checked: true,
  });
});
