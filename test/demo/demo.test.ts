import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/runtimes.ts";

test("the demo deploys an agent, triggers it by a GitHub event and leaves nothing behind", async () => {
  const demo = spawn(process.execPath, [join(root, "test/demo/demo.ts")], {
    env: { ...process.env, NO_COLOR: "1" },
  });
  let output = "";
  for (const stream of [demo.stdout, demo.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  const code = await new Promise((resolve) => demo.once("close", resolve));
  expect(code, output).toBe(0);
  for (const shown of [
    "$ svc push --force",
    "dep_",
    "Organization:",
    '"status":"succeeded"',
    "Codertocat",
    "Stopped.",
  ]) {
    expect(output).toContain(shown);
  }
});
