import { load, startDispatchProgram } from "../../limit/child.ts";
import type { Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";
import { LatencyStore, latencyAgent, sampleLatency, stampedBody } from "../../runner/latency.ts";
import { Store, withFolder, withServer } from "../../runner/server.ts";

/** Shares of the capacity: of the executions per second at saturation. */
const shares = [0.1, 0.25, 0.5, 0.75, 0.9];
const other = "bare child process with a synced commit";

/** Compared with the limit program that sends each webhook to a child process after its commit, at the same rates. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  return withFolder((folder) =>
    withServer({ agent: latencyAgent }, async (server, url) => {
      const bare = await startDispatchProgram(folder);
      const latencies = new LatencyStore(server);
      const takeBare = async () => (await fetch(bare.url)).json() as Promise<number[]>;
      try {
        const capacity = await capacityOf(url, new Store(server), seconds);
        await latencies.take();
        const rates = [
          { what: "20 per second", ratePerSecond: 20, at: 20 / capacity },
          ...shares.map((share) => ({
            what: `${share * 100} % of ${Math.round(capacity)} per second`,
            ratePerSecond: Math.round(capacity * share),
            at: share,
          })),
        ];
        const rows: Row[] = [];
        for (const { what, at, ratePerSecond } of rates) {
          const common = { ratePerSecond, seconds: ratePerSecond === 20 ? seconds * 2 : seconds };
          const programs = await interleave(
            {
              svc: () => sampleLatency({ ...common, url }, latencies.take),
              [other]: () => sampleLatency({ ...common, url: bare.url }, takeBare),
            },
            { rounds },
          );
          const row: Row = { what, unit: "ms at the median", programs, at: at * 100 };
          if (ratePerSecond === 20) row.goals = [{ program: other, of: "ratio", atMost: 1.8 }];
          rows.push(row);
        }
        return rows;
      } finally {
        latencies.close();
        await bare.stop();
      }
    }),
  );
}

/** Executions per second, from the start of a load until all have ended. The first load warms up. */
async function capacityOf(url: string, store: Store, seconds: number): Promise<number> {
  let capacity = 0;
  for (let round = 0; round < 2; round++) {
    const before = store.ended;
    const startedAt = performance.now();
    await load({
      url,
      seconds,
      warmupSeconds: 0,
      body: stampedBody,
      bodyBytes: 60,
      digits: "time",
      headers: {},
    });
    await store.untilDrained();
    capacity = (store.ended - before) / ((performance.now() - startedAt) / 1000);
  }
  store.close();
  return capacity;
}
