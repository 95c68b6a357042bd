/**
 * `node test/bench/limit/main.ts [url] [--pairs 5] [--seconds 3] [--bytes 150,8192] [--header "Name: value"]...`
 *
 * Compares the URL with the limit program for each body size, interleaved, and measures its latency at half of its rate.
 * Without a URL, compares the limit program with itself, which shows the noise of the machine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { load, startLimitProgram } from "./child.ts";
import { compare, describe } from "./compare.ts";
import { splitHeader } from "./request.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    bytes: { type: "string", default: "150,8192" },
    header: { type: "string", multiple: true, default: [] },
  },
});
const folder = mkdtempSync(join(tmpdir(), "svc-limit-"));
const limit = await startLimitProgram(folder);
const url = positionals[0] ?? limit.url;
const seconds = Number(values.seconds);
const headers = Object.fromEntries(values.header.map(splitHeader));

try {
  for (const bodyBytes of values.bytes.split(",").map(Number)) {
    const rate = (target: string) => async () =>
      (await load({ url: target, bodyBytes, seconds, headers })).perSecond;
    const comparison = await compare(
      { name: positionals[0] === undefined ? "limit program" : "candidate", run: rate(url) },
      { name: "limit program", run: rate(limit.url) },
      Number(values.pairs),
    );
    console.log(`${bodyBytes} bytes, answers/s: ${describe(comparison)}`);
    const half = await load({ url, bodyBytes, seconds, headers, ratePerSecond: comparison.a / 2 });
    console.log(
      `${bodyBytes} bytes, at ${Math.round(comparison.a / 2)}/s: ${JSON.stringify(half.latencyMs)} ms`,
    );
  }
} finally {
  await limit.stop();
  rmSync(folder, { recursive: true });
}
