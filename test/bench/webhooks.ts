/**
 * `npm run bench:webhooks [-- --pairs 5 --seconds 3 --bytes 150,8192]`: accepted webhooks per second, interleaved with the
 * limit program. Every 202 is durable in both. Rate limits are enabled and set high. Accepted executions stay queued behind
 * an agent that does not end, so that only accepting is measured.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { deploy } from "../support/project.ts";
import { TestServer } from "../support/server.ts";
import { load, startLimitProgram } from "./limit/child.ts";
import { compare, describe } from "./limit/compare.ts";

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    bytes: { type: "string", default: "150,8192" },
  },
});
const seconds = Number(values.seconds);
const folder = mkdtempSync(join(tmpdir(), "svc-limit-"));
const server = new TestServer("node", {
  env: {
    SVC_CONCURRENCY: "1",
    SVC_WEBHOOK_RATE: "10000000",
    SVC_WEBHOOK_BURST: "10000000",
    SVC_ORGANIZATION_RATE: "10000000",
    SVC_ORGANIZATION_BURST: "10000000",
  },
});
await server.start();
const limit = await startLimitProgram(folder);
try {
  const deployment = await deploy(server, {
    agents: {
      busy: {
        code: "export default () => new Promise(() => {});",
        timeout: 3600,
        webhooks: [{ slug: "in" }],
      },
    },
  });
  const url = deployment.webhooks[0]?.url ?? "";
  for (const bodyBytes of values.bytes.split(",").map(Number)) {
    const rate = (target: string) => async () =>
      (await load({ url: target, bodyBytes, seconds, headers: {} })).perSecond;
    const comparison = await compare(
      { name: "svc", run: rate(url) },
      { name: "limit program", run: rate(limit.url) },
      Number(values.pairs),
    );
    console.log(`${bodyBytes} bytes, accepted/s: ${describe(comparison)}`);
    const half = await load({ url, bodyBytes, seconds, ratePerSecond: comparison.a / 2, headers: {} });
    console.log(
      `${bodyBytes} bytes, at ${Math.round(comparison.a / 2)}/s: ${JSON.stringify(half.latencyMs)} ms`,
    );
  }
} finally {
  await limit.stop();
  await server.discard(false);
  rmSync(folder, { recursive: true });
}
