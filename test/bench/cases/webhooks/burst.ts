import assert from "node:assert/strict";
import { RequestTemplate } from "../../limit/request.ts";
import type { Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";
import { sendAll } from "../../runner/send-all.ts";
import { Store, withLimitProgram, withServer } from "../../runner/server.ts";

const count = 10_000;

/** The webhooks come over 64 connections, as fast as they are accepted. */
export async function run({ rounds }: Options): Promise<Row[]> {
  return withServer({}, async (server, url) =>
    withLimitProgram(async (limit) => {
      const store = new Store(server);
      const burst = (target: string) =>
        sendAll(new RequestTemplate({ url: target, bodyBytes: 150, headers: {} }), new URL(target), count);
      const programs = await interleave(
        {
          svc: async () => {
            const before = store.ended;
            const startedAt = performance.now();
            await burst(url);
            await store.untilDrained();
            assert.equal(store.ended - before, count);
            return performance.now() - startedAt;
          },
          "limit program": async () => {
            const startedAt = performance.now();
            await burst(limit.url);
            return performance.now() - startedAt;
          },
        },
        { rounds, warmUps: 1 },
      );
      store.close();
      const note = "until the last execution has ended; for the limit program, until its last 202";
      return [{ what: "10,000 webhooks", unit: "ms", programs, note }];
    }),
  );
}
