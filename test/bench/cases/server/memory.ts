import { readFileSync } from "node:fs";
import { load } from "../../limit/child.ts";
import type { Options, Row } from "../../runner/case.ts";
import { programsOf } from "../../runner/interleave.ts";
import { Store, withServer } from "../../runner/server.ts";

/** A fifth of a million, so that a full run stays short. */
const goal = 200_000;

export async function run(_options: Options): Promise<Row[]> {
  return withServer({}, async (server, url) => {
    const store = new Store(server);
    let sent = 0;
    let first = Number.NaN;
    while (sent < goal) {
      const { statuses } = await load({
        url,
        bodyBytes: 150,
        seconds: Number.isNaN(first) ? 1 : 4,
        headers: {},
      });
      sent += statuses[202] ?? 0;
      if (Number.isNaN(first) && sent >= 10_000) {
        await store.untilDrained();
        first = residentMB(server.pid);
      }
    }
    await store.untilDrained();
    store.close();
    const programs = programsOf(
      new Map([
        ["svc", [residentMB(server.pid)]],
        ["after the first 10,000", [first]],
      ]),
    );
    const note = "each webhook executed; one run";
    return [{ what: "after 200,000 webhooks", unit: "MB resident", programs, note }];
  });
}

function residentMB(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}
