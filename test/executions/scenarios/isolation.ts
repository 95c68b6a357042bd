/** The isolation of users' code. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RuntimeName } from "../../../server/runtime.ts";
import type { Lab } from "../lab.ts";
import { poolScenario, type Scenario, scenario } from "../scenario.ts";

/** Writes a file with a secret next to the package. */
function hide(lab: Lab): string {
  const secret = join(lab.folder, "secret");
  writeFileSync(secret, "TOP SECRET");
  writeFileSync(`${secret}.json`, '{ "text": "TOP SECRET" }');
  const database = new DatabaseSync(`${secret}.db`);
  database.exec("CREATE TABLE secret AS SELECT 'TOP SECRET' AS text");
  database.close();
  return secret;
}

function tryToEscape(lab: Lab, group: string, secret: string): Promise<Record<string, string>> {
  return lab
    .run("escape", { group, secret, pid: process.pid }, { alone: true })
    .then((outcome) =>
      outcome.type === "succeeded" ? JSON.parse(outcome.output) : { outcome: JSON.stringify(outcome) },
    );
}

/** All attempts are refused where the runtime has a permission model. On Bun there is only the guard. */
function refused(
  found: Record<string, string>,
  runtime: RuntimeName,
  guarded: readonly string[],
): Record<string, string> {
  const expected = runtime === "bun" ? guarded : Object.keys(found);
  return Object.fromEntries(
    Object.entries(found).filter(([name, result]) => expected.includes(name) && result !== "refused"),
  );
}

export const isolation: Scenario[] = [
  scenario(
    "refuses to read files of the server",
    (lab) => tryToEscape(lab, "reads", hide(lab)),
    (found, expect, runtime) => {
      expect(Object.keys(found).length).toBeGreaterThan(20);
      expect(refused(found, runtime, [])).toEqual({});
      if (runtime === "bun") expect(found.readFile).toBe("got TOP SECRET");
    },
  ),

  scenario(
    "refuses to write outside the scratch folder",
    async (lab) => {
      const secret = hide(lab);
      const found = await tryToEscape(lab, "writes", secret);
      return { found, secret: existsSync(secret) && readFileSync(secret, "utf8") };
    },
    ({ found, secret }, expect, runtime) => {
      expect(Object.keys(found).length).toBeGreaterThan(8);
      expect(refused(found, runtime, [])).toEqual({});
      if (runtime !== "bun") expect(secret).toBe("TOP SECRET");
    },
    // Deno takes the heap snapshot before it checks the permission to write it.
    { memoryBytes: 512 * 2 ** 20 },
  ),

  scenario(
    "refuses to start processes",
    (lab) => tryToEscape(lab, "processes", ""),
    (found, expect, runtime) => {
      expect(Object.keys(found).length).toBe(4);
      expect(refused(found, runtime, [])).toEqual({});
    },
  ),

  scenario(
    "refuses to signal the server and its group",
    (lab) => tryToEscape(lab, "signals", ""),
    (found, expect, runtime) => {
      expect(Object.keys(found).length).toBeGreaterThan(12);
      const guarded = [
        "parent",
        "parentGroup",
        "everybody",
        "ownGroup",
        "underscore",
        "debugger",
        "priority",
        "context",
      ];
      const reached = refused(found, runtime, guarded);
      // On Deno a thread starts with the permissions of its process, and cannot send signals.
      if (runtime === "deno")
        for (const name of Object.keys(reached)) if (name.startsWith("thread")) delete reached[name];
      expect(reached).toEqual({});
    },
  ),

  scenario(
    "has a scrubbed environment",
    async (lab) => {
      process.env.SVC_LAB_SECRET = "TOP SECRET";
      const outcome = await lab.run("environment", {});
      return JSON.parse((outcome as { output: string }).output) as Record<string, string>;
    },
    (environment, expect) => {
      expect(JSON.stringify(environment)).not.toContain("TOP SECRET");
      const known = /^(HOME|TMPDIR|TZ|LANG|NO_COLOR|PATH|BUN_RUNTIME_TRANSPILER_CACHE_PATH|DENO_\w+)$/;
      expect(Object.keys(environment).filter((name) => !known.test(name))).toEqual([]);
    },
  ),

  poolScenario(
    "the scratch folder is removed with the runner",
    async (lab) => {
      const outcome = await lab.run("scratch", { text: "kept" }, { alone: true });
      await lab.pools.close(10_000);
      return { outcome, left: readdirSync(join(lab.folder, "scratch")).filter((name) => name !== "cache") };
    },
    ({ outcome, left }, expect) => {
      expect(outcome).toEqual({ type: "succeeded", output: '"kept"' });
      expect(left).toEqual([]);
    },
  ),
];
