import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../app/package-root.ts";
import { type Step, stepLines } from "../../terminal/steps.ts";
import { type TemplateName, templates } from "./index.ts";
import type { Dependency, Runtime } from "./package-json.ts";

export interface Created {
  /** Path of the project from the current folder; empty for the same folder. */
  folder: string;
  template: TemplateName;
  runtime: Runtime;
  svc: Dependency;
  /** Whether the folder had a `package.json`, which does not depend on `svc`. */
  hasOwnManifest: boolean;
}

const commands: Record<Runtime, { install: string; add: string; test: string; dev: string; svc: string }> = {
  node: { install: "npm install", add: "npm install", test: "npm test", dev: "npm run dev", svc: "npx svc" },
  bun: {
    install: "bun install",
    add: "bun add",
    test: "bun run test",
    dev: "bun run dev",
    svc: "bunx --bun svc",
  },
  deno: {
    install: "deno install",
    add: "deno add",
    test: "deno task test",
    dev: "deno task dev",
    svc: "deno task svc",
  },
};

/** The lines that a person types after `svc init`, each with its purpose. */
export function nextSteps({ folder, template, runtime, svc, hasOwnManifest }: Created): string[] {
  const { install, add, test, dev, svc: run } = commands[runtime];
  const { hasSecrets, target } = templates[template];
  const isUnbuilt = svc.startsWith("file:") && !existsSync(join(packageRoot, "dist"));
  const steps: Step[] = [
    ...(folder === "" ? [] : [[`cd ${folder.includes(" ") ? JSON.stringify(folder) : folder}`, ""] as const]),
    ...(isUnbuilt ? [[`npm run build --prefix ${packageRoot}`, "compiles svc"] as const] : []),
    [hasOwnManifest ? `${add} svc@${svc}` : install, "installs svc"],
    [test, "runs samples and tests"],
    ...(hasSecrets ? [["cp .env.example .env", "fill in the secrets"] as const] : []),
    [dev, "deploys it on each save"],
    [`${run} run ${target} --data samples/${target}.json`, "runs it once (other terminal)"],
    [`${run} login <url>`, "stores address and key"],
    [`${run} push`, "deploys to the service"],
  ];
  return stepLines(steps);
}
