/** Runs the breakout attempts inside runners of one boundary, and in a process without any. */
import { spawn } from "node:child_process";
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import {
  type Attempt,
  createPools,
  type Outcome,
  type PoolLimits,
  type Pools,
} from "../../../server/executions/pool/index.ts";
import type { Boundary } from "../../../server/executions/sandbox/boundary.ts";
import { chooseBoundary } from "../../../server/executions/sandbox/choose-boundary.ts";
import { labLimits } from "../../executions/lab.ts";
import { commandOf, type Runtime, root } from "../../support/runtimes.ts";
import type { Result as Found } from "./package/attempts.ts";
import { promises, type Result } from "./promises.ts";
import { prize, type Services, startServices, watch, writeSecrets } from "./targets.ts";

/** The results of the attempts of a subject. */
export type Results = Record<string, { result: Result; text: string }>;

export class Laboratory {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), "svc-breakout-")));
  readonly #services: Promise<Services> = startServices(this.folder);
  #runs = 0;

  constructor() {
    const linked = join(this.folder, "linked");
    writeSecrets(linked);
    const source = join(root, "test/isolation/breakout/package");
    for (const name of ["package", "other"]) cpSync(source, join(this.folder, name), { recursive: true });
    symlinkSync(join(linked, "secret"), join(this.folder, "package/link-to-secret"));
    symlinkSync(linked, join(this.folder, "package/link-to-outside"));
    writeFileSync(
      join(this.folder, "other/agents/prize.ts"),
      `import { writeFileSync } from "node:fs";
import { stores } from "./caches.ts";
export const prize = ${JSON.stringify(prize)};
export default async () => {
  writeFileSync("prize", prize);
  for (const { put } of Object.values(stores)) try { await put(); } catch {}
};
`,
    );
  }

  /** Why nothing can run inside bubblewrap here; null when it can. */
  withoutBubblewrap(): string | null {
    return this.boundary("node", "auto").withoutSandbox;
  }

  boundary(runtime: Runtime, sandbox: "auto" | "bwrap" | "none"): Boundary {
    return chooseBoundary({
      runtime,
      path: null,
      sandbox,
      network: [],
      dataDir: this.folder,
      env: process.env,
    });
  }

  pools(boundary: Boundary, limits: Partial<PoolLimits> = {}): Pools {
    return this.poolsWithScratch(boundary, limits).pools;
  }

  poolsWithScratch(
    boundary: Boundary,
    limits: Partial<PoolLimits> = {},
  ): { pools: Pools; scratchRoot: string } {
    const scratchRoot = join(this.folder, `run-${this.#runs++}`, "scratch");
    mkdirSync(scratchRoot, { recursive: true });
    const pools = createPools({
      boundary,
      limits: { ...labLimits, memoryBytes: 256 * 2 ** 20, ...limits },
      scratchRoot,
      locate: async (deploymentId) => ({
        deploymentId,
        directory: join(this.folder, deploymentId),
        modules: [],
      }),
      events: {
        log() {},
        respond() {},
        runChildExecution: () => Promise.reject(new Error("no child executions")),
      },
    });
    return { pools, scratchRoot };
  }

  /** Runs all attempts of all subjects. */
  async attack(boundary: Boundary): Promise<Record<string, Results>> {
    const { pools, scratchRoot } = this.poolsWithScratch(boundary);
    try {
      // Its runner stays, with its scratch folder and its caches.
      await output(pools, "other", "prize", {});
      return await this.#attack(scratchRoot, (subject, targets) =>
        output(pools, "package", subject, { targets }),
      );
    } finally {
      await pools.close(0);
    }
  }

  /** The same attempts in a process with all permissions, to prove that each of them works. */
  async attackWithoutBoundary(runtime: Runtime): Promise<Record<string, Results>> {
    const [program, ...args] = commandOf(runtime);
    const script = join(this.folder, "package", "control.ts");
    const scratch = join(this.folder, `control-${runtime}`);
    mkdirSync(join(scratch, "other"), { recursive: true });
    writeFileSync(join(scratch, "other", "prize"), prize);
    const env = {
      ...process.env,
      HOME: scratch,
      TMPDIR: scratch,
      DENO_DIR: scratch,
      PRIZE: prize,
      CONTROL: "1",
    };
    // One attempt starts a compile cache, which works once in a process.
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NODE_COMPILE_CACHE"])
      delete (env as NodeJS.ProcessEnv)[name];
    const file = openSync(join(this.folder, "linked", "secret"), "r");
    const folder = openSync(join(this.folder, "linked"), "r");
    const results = await this.#attack(scratch, async (subject, targets) => {
      const child = spawn(program, [...args, script, subject, JSON.stringify({ targets })], {
        cwd: join(scratch, "other"),
        env,
        stdio: ["pipe", "pipe", "inherit", "pipe", file, folder],
      });
      return JSON.parse((await text(child.stdout as Readable)).split("\n").at(-1) || "{}");
    });
    for (const descriptor of [file, folder]) closeSync(descriptor);
    return results;
  }

  async close(): Promise<void> {
    (await this.#services).close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #attack(
    otherScratch: string,
    run: (subject: string, targets: object) => Promise<unknown>,
  ): Promise<Record<string, Results>> {
    const shared = {
      ...(await this.#services),
      otherPackage: join(this.folder, "other"),
      otherScratch,
    };
    const all: Record<string, Results> = {};
    for (const subject of Object.keys(promises)) {
      const { attempts } = (await import(`./package/agents/${subject}.ts`)) as { attempts: object };
      const names = Object.keys(attempts);
      const folder = join(this.folder, `outside-${this.#runs++}`);
      const withProcess = subject === "signals";
      const watched = new Map(
        names.map((name, n) => [name, watch(join(folder, String(n)), withProcess, shared)]),
      );
      const targets = Object.fromEntries([...watched].map(([name, { target }]) => [name, target]));
      const found = (await run(subject, targets)) as Record<string, Found>;
      await new Promise((resolve) => setImmediate(resolve));
      all[subject] = Object.fromEntries(
        [...watched].map(([name, { changed }]) => {
          const { state, text: said } = found[name] ?? { state: "returned", text: "no result" };
          const open = changed() || (state === "returned" && said.includes(prize));
          return [name, { result: open ? "open" : state === "returned" ? "contained" : state, text: said }];
        }),
      );
      for (const { close } of watched.values()) close();
    }
    return all;
  }
}

let executions = 0;

/** @returns the outcome of an agent; throws unless it succeeded */
export async function output(
  pools: Pools,
  deployment: string,
  agent: string,
  input: object,
): Promise<unknown> {
  const outcome = await runAgent(pools, deployment, agent, input);
  if (outcome.type !== "succeeded") throw new Error(`${agent}: ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.output);
}

export function runAgent(
  pools: Pools,
  deployment: string,
  agent: string,
  input: object,
  more: Partial<Attempt> = {},
): Promise<Outcome> {
  return pools.run({
    executionId: `exe_${executions++}`,
    organizationId: "org_lab",
    deploymentId: deployment,
    environment: "production",
    kind: "agent",
    name: agent,
    module: `agents/${agent}.ts`,
    input: JSON.parse(JSON.stringify(input)),
    attemptNumber: 1,
    trigger: "test",
    timeoutMs: 30_000,
    secrets: {},
    unreadableSecrets: [],
    alone: false,
    ...more,
  });
}
