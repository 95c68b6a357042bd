/**
 * The cost of metrics and tracing: processor time of the server for each accepted webhook, interleaved, with tracing off, at
 * a sampling of 1 %, and of all traces. With the path of another checkout, for example of an earlier commit, its server is
 * the base. Processor time, because other programs disturb it less than the throughput; the lowest decile
 * of the rounds is disturbed least.
 *
 * `accept`: the executions stay in the queue. `run`: they run. `npm run bench:telemetry [rounds] [seconds] [checkout] [accept|run]`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Collector } from "../support/collector.ts";
import { deploy } from "../support/project.ts";
import { TestServer } from "../support/server.ts";
import { load } from "./limit/child.ts";

const [rounds = "20", seconds = "1", checkout, only] = process.argv.slice(2);
const high = "10000000";
const collector = await Collector.start();
const limits = {
  SVC_WEBHOOK_RATE: high,
  SVC_WEBHOOK_BURST: high,
  SVC_ORGANIZATION_RATE: high,
  SVC_ORGANIZATION_BURST: high,
};
const traced = (ratio: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
  OTEL_TRACES_SAMPLER_ARG: ratio,
});
const kinds = {
  accept: { env: { SVC_CONCURRENCY: "1" }, code: "export default () => new Promise(() => {});" },
  run: { env: {}, code: "export default () => null;" },
};

interface Candidate {
  name: string;
  server: TestServer;
  url: string;
  /** Microseconds for each webhook, by round. */
  costs: number[];
  perSecond: number[];
}

async function start(name: string, env: Record<string, string>, code: string, launcher?: string) {
  const server = new TestServer("node", {
    env: { ...limits, ...env },
    ...(launcher !== undefined && { launcher }),
  });
  await server.start();
  const agent = { code, timeout: 3600, webhooks: [{ slug: "in" }] };
  const { webhooks } = await deploy(server, { agents: { hook: agent } });
  return { name, server, url: webhooks[0]?.url ?? "", costs: [], perSecond: [] } satisfies Candidate;
}

/** User and system time of a process in seconds. The second field, the program in parentheses, may contain spaces. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function measure(candidate: Candidate): Promise<void> {
  const before = cpuSeconds(candidate.server.pid);
  const options = {
    url: candidate.url,
    bodyBytes: 150,
    seconds: Number(seconds),
    connections: 32,
    warmupSeconds: 0.2,
    headers: {},
  };
  const { statuses, perSecond } = await load(options);
  const used = cpuSeconds(candidate.server.pid) - before;
  candidate.costs.push((used / (statuses[202] ?? Number.NaN)) * 1e6);
  candidate.perSecond.push(perSecond);
}

/** The value below which a share of the values lies. */
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
const median = (values: readonly number[]) => quantile(values, 0.5);

for (const [kind, { env, code }] of Object.entries(kinds)) {
  if (only !== undefined && only !== kind) continue;
  const candidates: Candidate[] = [
    ...(checkout === undefined ? [] : [await start("base", env, code, join(checkout, "cli/launcher.js"))]),
    await start("off", env, code),
    await start("1 %", { ...env, ...traced("0.01") }, code),
    await start("100 %", { ...env, ...traced("1") }, code),
  ];
  const [base] = candidates;
  // The first round warms up.
  for (let round = 0; round <= Number(rounds); round++) {
    const order = candidates.map((_, index) => candidates[(index + round) % candidates.length] as Candidate);
    for (const candidate of order) await measure(candidate);
  }
  for (const { name, costs, perSecond, server } of candidates) {
    const kept = costs.slice(1);
    const ratios = kept.map((cost, round) => cost / (base?.costs[round + 1] ?? Number.NaN));
    const quartiles = `quartiles ${quantile(ratios, 0.25).toFixed(3)} to ${quantile(ratios, 0.75).toFixed(3)}`;
    console.log(
      `${kind}, ${name}: ${median(kept).toFixed(0)} µs of processor time for each webhook, lowest decile ${quantile(kept, 0.1).toFixed(0)} (${median(ratios).toFixed(3)} of ${base?.name}, ${quartiles}); ${Math.round(median(perSecond.slice(1)))} per second`,
    );
    await server.discard(false);
  }
}
collector.close();
process.exit(0);
