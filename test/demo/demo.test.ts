import { join } from "node:path";
import { expect, test } from "vitest";
import { onTerminal } from "../cli/support.ts";
import { root } from "../support/runtimes.ts";

// On a terminal, where a command that asks a question would wait for its answer.
test("the demo deploys an agent, triggers it by a GitHub event and leaves nothing behind", async () => {
  const command = [process.execPath, join(root, "test/demo/demo.ts")];
  const { code, screen } = await onTerminal(command, { env: { NO_COLOR: "1" } });
  expect(code, screen).toBe(0);
  for (const shown of [
    "$ svc push --force",
    "dep_",
    "Organization:",
    '"status":"succeeded"',
    "Codertocat",
    "Stopped.",
  ]) {
    expect(screen).toContain(shown);
  }
});
