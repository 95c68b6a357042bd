/** The imports of a package, and the check of its modules. */
import type { ModuleCheck } from "../../../server/executions/pool/index.ts";
import type { RuntimeName } from "../../../server/runtime.ts";
import { poolScenario, type Scenario, scenario } from "../scenario.ts";

interface Expected {
  module: string;
  name?: RegExp;
  message: RegExp;
  place?: { file: string; line: number };
  only?: readonly RuntimeName[];
  timeoutMs?: number;
}

const broken: readonly Expected[] = [
  {
    module: "agents/top-level-throw.ts",
    name: /^RangeError$/,
    message: /^at the top 42$/,
    place: { file: "agents/top-level-throw.ts", line: 3 },
  },
  { module: "agents/syntax-error.ts", message: /./, place: { file: "agents/syntax-error.ts", line: 2 } },
  { module: "agents/missing-file.ts", message: /agents\/nothing\.ts|\.\/nothing\.ts/ },
  { module: "agents/missing-package.ts", message: /no-such-package-anywhere/ },
  { module: "agents/missing-export.ts", message: /nothing/ },
  { module: "agents/remote.ts", message: /./ },
  {
    module: "agents/no-default.ts",
    name: /^TypeError$/,
    message: /default export must be a function, but it exports nothing/,
  },
  {
    module: "agents/no-function.ts",
    name: /^TypeError$/,
    message: /it exports an object without a function 'run'/,
  },
  { module: "agents/not-erasable.ts", message: /enum/i, only: ["node"] },
  { module: "agents/top-level-exit.ts", name: /^ExitError$/, message: /process\.exit\(1\)/ },
  { module: "agents/top-level-await.ts", name: /^TimeoutError$/, message: /within 1 s/, timeoutMs: 1000 },
  { module: "agents/top-level-spin.ts", name: /^TimeoutError$/, message: /within 1 s/, timeoutMs: 1000 },
  { module: "agents/top-level-abort.ts", name: /^LoadError$/, message: /signal SIGABRT/ },
  { module: "agents/not-there.ts", message: /agents\/not-there\.ts/ },
];

export const modules: Scenario[] = [
  scenario(
    "imports of files, packages and JSON",
    async (lab) => [
      await lab.run("good", { n: 1 }),
      await lab.run("good", {}, { module: "agents/index-folder/index.mjs" }),
      await lab.run("plugin", {}),
    ],
    ([good, folder, plugin], expect) => {
      expect(good).toEqual({
        type: "succeeded",
        output: JSON.stringify([
          "function",
          "helper",
          "json",
          "esm+inner",
          "sub",
          "named/",
          "named/",
          "function",
        ]),
      });
      expect(folder).toEqual({ type: "succeeded", output: '"folder"' });
      expect(plugin).toEqual({ type: "succeeded", output: "true" });
    },
  ),

  poolScenario(
    "accepts a package.json whose dependencies are not installed",
    async (lab) => {
      lab.write(
        "package.json",
        JSON.stringify({ type: "module", dependencies: { "not-installed": "1.0.0" } }),
      );
      lab.write("deno.json", JSON.stringify({ imports: { svc: "./agents/lib/helper.ts" } }));
      return lab.run("good", { n: 1 });
    },
    (outcome, expect) => expect(outcome.type).toBe("succeeded"),
  ),

  scenario(
    "replaces an svc in the package's own node_modules",
    async (lab) => {
      lab.write("node_modules/svc/package.json", JSON.stringify({ name: "svc", main: "evil.js" }));
      lab.write("node_modules/svc/evil.js", "throw new Error('another svc')");
      return lab.run("good", { n: 1 });
    },
    (outcome, expect) => expect(outcome.type).toBe("succeeded"),
  ),

  poolScenario(
    "fails an attempt when node_modules is a link",
    async (lab) => {
      const { rmSync, symlinkSync } = await import("node:fs");
      rmSync(`${lab.package}/node_modules`, { recursive: true });
      symlinkSync(lab.folder, `${lab.package}/node_modules`);
      return lab.run("good", { n: 1 });
    },
    (outcome, expect) => {
      expect(outcome).toMatchObject({
        type: "failed",
        reason: "load",
        error: {
          name: "PackageError",
          message: expect.stringContaining("its node_modules must be a folder"),
        },
      });
    },
  ),

  scenario(
    "a module that cannot be loaded fails only its own executions",
    async (lab) => [
      await lab.run("top-level-throw", {}),
      await lab.run("top-level-throw", {}),
      await lab.run("good", {}),
    ],
    ([first, second, other], expect) => {
      const failed = {
        type: "failed",
        reason: "load",
        error: { name: "RangeError", message: "at the top 42" },
      };
      expect([first, second]).toMatchObject([failed, failed]);
      expect(other?.type).toBe("succeeded");
    },
  ),

  // Its messages are those of the runtime, but it starts twenty runners: `npm run test:runtimes` has the other runtimes.
  poolScenario(
    "check reports the modules that cannot be loaded",
    async (lab) => {
      const location = { deploymentId: lab.deploymentId, directory: lab.package };
      const checks: ModuleCheck[] = [];
      for (const { module, timeoutMs } of broken) {
        checks.push(...(await lab.pools.check(location, [module], timeoutMs ?? 20_000)));
      }
      for (const { error } of checks)
        if (error) lab.outcomes.push({ type: "lost", reason: JSON.stringify(error), suspect: false });
      const [good, abort, folder] = await lab.pools.check(
        location,
        ["agents/good.ts", "agents/top-level-abort.ts", "agents/index-folder/index.mjs"],
        20_000,
      );
      const modules = ["agents/trap.ts", "agents/trap.ts", "agents/trapped.ts", "agents/trapped.ts"];
      const trapped = await lab.pools.check(location, modules, 20_000);
      return {
        checks,
        together: [good?.ok, abort?.ok, folder?.ok],
        // Two runners, each of which has loaded a module that affects the next one.
        modules: trapped.map(({ ok }) => ok),
      };
    },
    ({ checks, together, modules }, expect, runtime) => {
      expect(modules).toEqual([true, true, true, true]);
      expect(together).toEqual([true, false, true]);
      for (const [i, { module, name, message, place, only }] of broken.entries()) {
        const check = checks[i];
        expect(check?.module).toBe(module);
        if (only !== undefined && !only.includes(runtime)) {
          expect(check, module).toEqual({ module, ok: true });
          continue;
        }
        expect(check?.ok, module).toBe(false);
        expect(check?.error?.message, module).toMatch(message);
        if (name !== undefined) expect(check?.error?.name, module).toMatch(name);
        if (place !== undefined) expect(check?.error, module).toMatchObject(place);
      }
    },
  ),

  poolScenario(
    "warm loads modules in advance",
    async (lab) => {
      await lab.pools.warm(lab.deploymentId);
      const first = await lab.run("outcome", { end: "pid" });
      await lab.pools.warm(lab.deploymentId);
      return { first, second: await lab.run("outcome", { end: "pid" }) };
    },
    ({ first, second }, expect) => {
      expect(first.type).toBe("succeeded");
      expect(second).toEqual(first);
    },
  ),
];
