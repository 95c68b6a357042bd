/**
 * `node test/bench/limit/cli.ts <url>… [options]`: sends requests to URLs of one server and prints the result as JSON. Exits 1 when a
 * response was lost or had an unexpected status.
 */
import { parseArgs } from "node:util";
import { runLoad } from "./load.ts";
import { splitHeader } from "./request.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    connections: { type: "string", default: "64" },
    seconds: { type: "string", default: "5" },
    warmup: { type: "string", default: "1" },
    /** Bytes of the generated body. */
    bytes: { type: "string", default: "150" },
    /** A given body; `{n}` in it becomes 16 digits that differ in every request. */
    body: { type: "string" },
    /** The digits: `number` or `time`. */
    digits: { type: "string", default: "number" },
    /** `Name: value`, repeatable; `{n}` as in the body. */
    header: { type: "string", multiple: true, default: [] },
    /** Requests per second; 0 is as many as the server accepts. */
    rate: { type: "string", default: "0" },
    expect: { type: "string", default: "202" },
  },
});
const [url, ...moreUrls] = positionals;
if (url === undefined) throw new Error("Cannot load: a URL must be given.");

const result = await runLoad({
  url,
  moreUrls,
  digits: values.digits === "time" ? "time" : "number",
  connections: number("connections", 1),
  seconds: number("seconds", 0.1),
  warmupSeconds: number("warmup", 0),
  bodyBytes: number("bytes", 60),
  ratePerSecond: number("rate", 0),
  expect: number("expect", 100),
  headers: Object.fromEntries(values.header.map(splitHeader)),
  ...(values.body === undefined ? {} : { body: values.body }),
});
console.log(JSON.stringify(result));
const others = Object.keys(result.statuses).filter((status) => status !== values.expect);
if (result.lost > 0 || others.length > 0) process.exitCode = 1;

function number(
  name: "connections" | "seconds" | "warmup" | "bytes" | "rate" | "expect",
  min: number,
): number {
  const value = Number(values[name]);
  if (value >= min) return value;
  throw new Error(`Cannot load: --${name} must be a number of at least ${min}, not '${values[name]}'.`);
}
