import { Accepting } from "../../runner/accepting.ts";
import type { Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";
import { acceptOnly, withLimitProgram, withServer } from "../../runner/server.ts";

const counts = [1, 8, 64, 256];

export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  return withServer(acceptOnly, async (_server, url) =>
    withLimitProgram(async (limit) => {
      const rows: Row[] = [];
      for (const connections of counts) {
        const common = { bodyBytes: 150, seconds: seconds / 2, headers: {}, connections };
        const ours = new Accepting({ ...common, url });
        const theirs = new Accepting({ ...common, url: limit.url });
        const programs = await interleave({ svc: ours.measure, "limit program": theirs.measure }, { rounds });
        const what = `${connections} connection${connections === 1 ? "" : "s"}`;
        rows.push({ what, unit: "webhooks/s", programs, at: connections });
      }
      return rows;
    }),
  );
}
