/**
 * `npm run bench:memory [-- --webhooks 1000000]`: resident memory of the server after ten thousand webhooks and after a
 * million. Each webhook runs a trivial agent.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { deploy } from "../support/project.ts";
import { TestServer } from "../support/server.ts";
import { load } from "./limit/child.ts";

const { values } = parseArgs({ options: { webhooks: { type: "string", default: "1000000" } } });
const server = new TestServer("node", {
  env: {
    SVC_WEBHOOK_RATE: "10000000",
    SVC_WEBHOOK_BURST: "10000000",
    SVC_ORGANIZATION_RATE: "10000000",
    SVC_ORGANIZATION_BURST: "10000000",
  },
});
await server.start();
try {
  const agents = { echo: { code: "export default () => 1;", webhooks: [{ slug: "in" }] } };
  const url = (await deploy(server, { agents })).webhooks[0]?.url ?? "";
  let sent = 0;
  let first = 0;
  const goal = Number(values.webhooks);
  while (sent < goal) {
    const { statuses } = await load({ url, bodyBytes: 150, seconds: first === 0 ? 1 : 5, headers: {} });
    sent += Object.values(statuses).reduce((sum, count) => sum + count, 0);
    const megabytes = residentMegabytes(server.pid);
    if (first === 0 && sent >= 10_000) {
      first = megabytes;
      console.log(`after ${sent} webhooks: ${megabytes.toFixed(0)} MB`);
    }
    if (sent >= goal) {
      console.log(
        `after ${sent} webhooks: ${megabytes.toFixed(0)} MB, ratio ${(megabytes / first).toFixed(2)}`,
      );
    }
  }
} finally {
  await server.discard(false);
}

function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}
