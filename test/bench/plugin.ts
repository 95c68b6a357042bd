/**
 * Measures the plugin against the runtime's own `fetch`: processor time per request, and memory for large files. Run it
 * on each runtime: `node test/bench/plugin.ts`, and with `bun` or `deno run -A`; the argument `requests` or `files` runs
 * one half. The server is a separate process. Every candidate must first return the same result. Rounds of a candidate
 * and of the baseline are interleaved, and the benchmark prints the median ratio with the quartiles.
 *
 * It fails when the plugin exceeds a limit: processor time on Node, memory on all runtimes. On Bun and Deno, `fetch`
 * takes a third and two thirds of the time that it takes on Node, so ofetch alone, with a timeout, exceeds the limit.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ofetch } from "ofetch";
import { RestPlugin } from "../../plugin/index.ts";
import { commandFor } from "../plugin/runtimes.ts";

const maxRatio = 1.3;
const maxGrowthMiB = 64;
const pairs = 60;
const requestsPerRound = 250;
/** Enough for the just-in-time compilers. */
const warmRounds = 24;
const concurrency = 16;
const fileBytes = 2 ** 30;
const mebibyte = 2 ** 20;

const part = process.argv[2];
const { server, origin } = await startServer();
const api = new RestPlugin({
  baseUrl: origin,
  apiKey: "key-1234",
  timeout: 600,
  egressGuard: { tools: true },
});
const isNode = !process.versions.bun && !process.versions.deno;
let failed = false;
console.log(runtimeName());
try {
  if (part !== "files") await compareRequests();
  if (part !== "requests") await measureFiles();
} finally {
  await api.close();
  server.kill();
}
process.exitCode = failed ? 1 : 0;

type Request = () => Promise<unknown>;

async function compareRequests(): Promise<void> {
  const headers = { authorization: "Bearer key-1234", accept: "application/json, */*;q=0.8" };
  const data = { name: "Zoë", tags: ["a", "b"], count: 3 };
  const [getTool] = api.tools;
  for (const [name, path] of [
    ["300 bytes", "/small"],
    ["10 KB", "/large"],
    ["300 bytes, no length", "/chunked"],
  ] as const) {
    const url = origin + path;
    await compare(`GET, ${name}`, async () => (await fetch(url, { headers })).json(), {
      plugin: () => api.get(path),
      "plugin, under the guard": () => getTool?.execute({ endpoint: path }) ?? Promise.resolve(),
      "ofetch with a timeout": () => ofetch(url, { headers, timeout: 30_000 }),
    });
  }
  await compare("POST, 300 bytes back", async () => (await post(data)).json(), {
    plugin: () => api.post("/small", data),
  });
}

function post(data: unknown): Promise<Response> {
  const headers = {
    authorization: "Bearer key-1234",
    accept: "application/json",
    "content-type": "application/json",
  };
  return fetch(`${origin}/small`, { method: "POST", body: JSON.stringify(data), headers });
}

async function compare(name: string, baseline: Request, candidates: Record<string, Request>): Promise<void> {
  const expected = await baseline();
  for (const [candidate, request] of Object.entries(candidates)) {
    assert.deepEqual(await request(), expected, candidate);
  }
  const all = [baseline, ...Object.values(candidates)];
  for (let warm = 0; warm < warmRounds; warm++) for (const request of all) await round(request);
  const ratios: Record<string, number[]> = {};
  const baselineUs: number[] = [];
  for (const [candidate, request] of Object.entries(candidates)) {
    const list: number[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      // The order alternates, so that neither always collects the garbage of the other.
      const early = pair % 2 === 0 ? await round(baseline) : 0;
      const own = await round(request);
      const base = early || (await round(baseline));
      baselineUs.push(base);
      list.push(own / base);
    }
    ratios[candidate] = list;
  }
  console.log(`${name}: fetch and response.json() ${median(baselineUs).toFixed(1)} µs of processor time`);
  for (const [candidate, list] of Object.entries(ratios)) {
    const ratio = median(list);
    const over = candidate === "plugin" && isNode && ratio > maxRatio;
    failed ||= over;
    const spread = `${quantile(list, 0.25).toFixed(2)} to ${quantile(list, 0.75).toFixed(2)}`;
    const note = over ? `, over the limit of ${maxRatio}` : "";
    console.log(`  ${candidate}: ${ratio.toFixed(3)} times (quartiles ${spread})${note}`);
  }
}

/** Microseconds of processor time per request. */
async function round(request: Request): Promise<number> {
  const before = process.cpuUsage();
  let left = requestsPerRound;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await request();
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsPerRound;
}

async function measureFiles(): Promise<void> {
  const path = join(tmpdir(), `svc-bench-plugin-${process.pid}`);
  const guarded = new RestPlugin({ baseUrl: origin, timeout: 600, egressGuard: true });
  try {
    for (const [name, client] of [
      ["", api],
      [", under the guard", guarded],
    ] as const) {
      // A small file first, so that only the effect of the size is measured.
      await client.downloadFile(`/stream?bytes=${32 * mebibyte}`, path);
      await grow(`1 GiB down${name}`, name === "", () =>
        client.downloadFile(`/stream?bytes=${fileBytes}`, path),
      );
      assert.equal((await stat(path)).size, fileBytes);
      await grow(`1 GiB up${name}`, name === "", async () => {
        const { bytes } = await client.uploadFile<{ bytes: number }>("/sink", path, "file");
        assert.ok(bytes > fileBytes && bytes < fileBytes + 1000);
      });
    }
  } finally {
    await guarded.close();
    await rm(path, { force: true });
  }
}

async function grow(name: string, limited: boolean, transfer: () => Promise<unknown>): Promise<void> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const begun = performance.now();
  await transfer();
  clearInterval(watch);
  const seconds = (performance.now() - begun) / 1000;
  const growthMiB = (peak - before) / mebibyte;
  const over = limited && growthMiB > maxGrowthMiB;
  failed ||= over;
  const note = over ? `, over the limit of ${maxGrowthMiB}` : "";
  console.log(
    `${name}: ${growthMiB.toFixed(1)} MiB more resident memory${note}, ${(fileBytes / mebibyte / seconds).toFixed(0)} MiB/s`,
  );
}

async function startServer(): Promise<{ server: ChildProcess; origin: string }> {
  const [program = "", ...args] = commandFor("node");
  const script = join(import.meta.dirname, "plugin-server.ts");
  const child = spawn(program, [...args, script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { server: child, origin: `http://127.0.0.1:${line.toString().trim()}` };
}

function median(values: number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: number[], fraction: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * fraction)] ?? Number.NaN;
}

function runtimeName(): string {
  const { bun, deno, node } = process.versions;
  return bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`;
}
