import assert from "node:assert/strict";
import { Accepting } from "../../runner/accepting.ts";
import type { Options, Row } from "../../runner/case.ts";
import { type Candidates, interleave, programsOf, type Sample } from "../../runner/interleave.ts";
import { Store, withLimitProgram, withServer } from "../../runner/server.ts";

/** 64 connections send as many webhooks as are accepted. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  return withServer({}, async (server, url) =>
    withLimitProgram(async (limit) => {
      const store = new Store(server);
      const common = { bodyBytes: 150, seconds: seconds * 1.5, headers: {} };
      const ours = new Accepting({ ...common, url });
      const theirs = new Accepting({ ...common, url: limit.url });
      const executed: number[] = [];
      const accepted: number[] = [];
      const candidates: Candidates = {
        svc: async (): Promise<Sample> => {
          const before = store.ended;
          const startedAt = performance.now();
          const sample = await ours.measure();
          await store.untilDrained();
          executed.push((store.ended - before) / ((performance.now() - startedAt) / 1000));
          return sample;
        },
        "limit program": async (): Promise<Sample> => {
          const sample = await theirs.measure();
          accepted.push(sample.value);
          return sample;
        },
      };
      const programs = await interleave(candidates, { rounds: rounds + 1 });
      assert.equal(store.count(), ours.accepted, "svc must have executed each accepted webhook once");
      store.close();
      const total = programsOf(
        new Map([
          ["svc", executed],
          ["limit program", accepted],
        ]),
      );
      return [
        {
          what: "accepted while executing",
          unit: "webhooks/s",
          programs,
          goals: [{ program: "svc", of: "p99Ms", atMost: 25 }],
        },
        {
          what: "executed, until the last one has ended",
          unit: "executions/s",
          programs: total,
          goals: [{ program: "limit program", of: "ratio", atLeast: 0.25 }],
          note: "the limit program only accepts",
        },
      ];
    }),
  );
}
