/**
 * The cost of a runner: `node test/bench/pool.ts`, or with `bun` or `deno run -A`.
 *
 * Start-up, latency and throughput are separate. The limits are the server's defaults, except for the executions per
 * runner, which is the number of attempts in flight.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Attempt, createPools, type Outcome, type Pools } from "../../server/executions/pool/index.ts";
import { runtimeName } from "../../server/runtime.ts";

const seconds = Number(process.argv[2] ?? 3);

const agents: Record<string, string> = {
  trivial: `export default (input) => ({ ok: input.n });`,
  firstLine: `export default () => { console.log("first line"); };`,
  tenLines: `export default () => { for (let i = 0; i < 10; i++) console.log("line", i, { i }); };`,
  output64KiB: `const text = "x".repeat(65536); export default () => text;`,
  output4MiB: `const text = "x".repeat(4 * 2 ** 20 - 2); export default () => text;`,
  runChild: `export default (input, ctx) => ctx.run("child", { n: input.n });`,
};

const folder = mkdtempSync(join(tmpdir(), "svc-pool-bench-"));
mkdirSync(join(folder, "package", "agents"), { recursive: true });
for (const [name, code] of Object.entries(agents)) {
  writeFileSync(join(folder, "package", "agents", `${name}.ts`), code);
}
let onLine: () => void = () => {};
const pools: Pools = createPools({
  limits: {
    memoryBytes: 256 * 2 ** 20,
    outputBytes: 4 * 2 ** 20,
    logLineBytes: 16 * 1024,
    logLines: 10_000,
    executionsPerRunner: 256,
    runnersPerDeployment: 1,
    idleMs: 60_000,
    killGraceMs: 5000,
    blockedMs: 5000,
  },
  scratchRoot: join(folder, "scratch"),
  locate: async (deploymentId) => ({ deploymentId, directory: join(folder, "package") }),
  events: {
    log: () => onLine(),
    respond() {},
    runChildExecution: async (_, { input }) => ({
      executionId: "exe_child",
      output: { ok: input.n ?? null },
    }),
  },
});

let attempts = 0;
function run(agent: string): Promise<Outcome> {
  attempts += 1;
  const job: Attempt = {
    executionId: `exe_${attempts}`,
    organizationId: "org_bench",
    deploymentId: "dep_bench",
    environment: "production",
    kind: "agent",
    name: agent,
    module: `agents/${agent}.ts`,
    input: { n: attempts },
    attemptNumber: 1,
    trigger: "webhook",
    timeoutMs: 300_000,
    secrets: { TOKEN: "secret" },
    unreadableSecrets: [],
    alone: false,
  };
  return pools.run(job);
}

async function throughput(agent: string, inFlight: number): Promise<void> {
  const endMs = performance.now() + seconds * 1000;
  let count = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const { type } = await run(agent);
      assert.equal(type, "succeeded");
      count += 1;
    }
  };
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = Math.round(count / ((performance.now() - startMs) / 1000));
  const cpuUs = ((user + system) / count).toFixed(1);
  print(
    `throughput: ${agent}, ${inFlight} in flight`,
    `${perSecond} per second, ${cpuUs} µs of CPU here for each`,
  );
}

/** One attempt at a time with pauses, as on a warm server with little load. */
async function latency(agent: string, until: "outcome" | "first line"): Promise<void> {
  const timesUs: number[] = [];
  for (let i = 0; i < 100 * seconds; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const startMs = performance.now();
    const line = new Promise<void>((resolve) => {
      onLine = resolve;
    });
    const outcome = run(agent);
    await (until === "outcome" ? outcome : line);
    timesUs.push((performance.now() - startMs) * 1000);
    await outcome;
  }
  timesUs.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(timesUs[Math.floor(timesUs.length * share)] ?? 0);
  print(`latency: ${agent} to ${until}`, `p50 ${at(0.5)} µs, p99 ${at(0.99)} µs`);
}

function print(what: string, figures: string): void {
  console.log(`${what.padEnd(44)} ${figures}`);
}

console.log(runtimeName);
const startMs = performance.now();
const first = await run("trivial");
print("start-up: first outcome of a cold deployment", `${Math.round(performance.now() - startMs)} ms`);
assert.deepEqual(first, { type: "succeeded", output: '{"ok":1}' });
for (const agent of Object.keys(agents)) await run(agent);

await latency("trivial", "outcome");
await latency("firstLine", "first line");
await latency("run", "outcome");
await throughput("trivial", 1);
await throughput("trivial", 32);
await throughput("trivial", 256);
await throughput("firstLine", 32);
await throughput("tenLines", 32);
await throughput("run", 32);
await throughput("output64KiB", 8);
await throughput("output4MiB", 2);
await pools.close(0);
rmSync(folder, { recursive: true, force: true });
