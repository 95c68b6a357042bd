/**
 * Measures the plugin on the runtime that runs this program: `program.ts requests|files <rounds>` prints rows as JSON. The
 * server is a separate process. Every program must first return the same result.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ofetch } from "ofetch";
import { RestPlugin } from "../../../plugin/index.ts";
import { commandFor } from "../../plugin/runtimes.ts";
import type { Row } from "../runner/case.ts";
import { interleave, programsOf } from "../runner/interleave.ts";

const maxRatio = 1.3;
const requestsPerRound = 250;
/** Enough for the just-in-time compilers. */
const warmUps = 24;
const concurrency = 16;
const fileBytes = 2 ** 30;
const mebibyte = 2 ** 20;

const [part, rounds = "9"] = process.argv.slice(2);
const { server, origin } = await startServer();
const api = new RestPlugin({
  baseUrl: origin,
  apiKey: "key-1234",
  timeout: 600,
  egressGuard: { tools: true },
});
try {
  console.log(JSON.stringify(part === "files" ? await measureFiles() : await compareRequests()));
} finally {
  await api.close();
  server.kill();
}

type Request = () => Promise<unknown>;

async function compareRequests(): Promise<Row[]> {
  const rows: Row[] = [];
  const headers = { authorization: "Bearer key-1234", accept: "application/json, */*;q=0.8" };
  const data = { name: "Zoë", tags: ["a", "b"], count: 3 };
  const [getTool] = api.tools;
  for (const [name, path] of [
    ["300 bytes", "/small"],
    ["10 KB", "/large"],
    ["300 bytes, no length", "/chunked"],
  ] as const) {
    const url = origin + path;
    const baseline = async () => (await fetch(url, { headers })).json();
    rows.push(
      await compare(`GET, ${name}`, baseline, {
        svc: () => api.get(path),
        "under the egress guard": () => getTool?.execute({ endpoint: path }) ?? Promise.resolve(),
        "ofetch with a timeout": () => ofetch(url, { headers, timeout: 30_000 }),
      }),
    );
  }
  rows.push(
    await compare("POST, 300 bytes back", async () => (await post(data)).json(), {
      svc: () => api.post("/small", data),
    }),
  );
  return rows;
}

function post(data: unknown): Promise<Response> {
  const headers = {
    authorization: "Bearer key-1234",
    accept: "application/json",
    "content-type": "application/json",
  };
  return fetch(`${origin}/small`, { method: "POST", body: JSON.stringify(data), headers });
}

async function compare(what: string, baseline: Request, candidates: Record<string, Request>): Promise<Row> {
  const expected = await baseline();
  for (const [candidate, request] of Object.entries(candidates)) {
    assert.deepEqual(await request(), expected, candidate);
  }
  const all = { ...candidates, fetch: baseline };
  const programs = await interleave(
    Object.fromEntries(Object.entries(all).map(([name, request]) => [name, () => round(request)])),
    { rounds: Number(rounds), warmUps },
  );
  const row: Row = { what, unit: "µs of processor time", programs };
  // On Bun and Deno, `fetch` takes a third and two thirds of its time on Node.
  if (!process.versions.bun && !process.versions.deno)
    row.goals = [{ program: "fetch", of: "ratio", atMost: maxRatio }];
  return row;
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

async function measureFiles(): Promise<Row[]> {
  const path = join(tmpdir(), `svc-bench-plugin-${process.pid}`);
  const note = "one transfer of each size";
  try {
    const small = await transfers(32 * mebibyte, path);
    const large = await transfers(fileBytes, path);
    return (["down", "up"] as const).flatMap((way): Row[] => {
      const megabytes = new Map([
        ["svc", [large[way].megabytes]],
        ["with 32 MiB", [small[way].megabytes]],
      ]);
      const rate = new Map([["svc", [large[way].perSecond]]]);
      return [
        { what: `1 GiB ${way}, most memory`, unit: "MB resident", programs: programsOf(megabytes), note },
        { what: `1 GiB ${way}`, unit: "MB/s", programs: programsOf(rate), note },
      ];
    });
  } finally {
    await rm(path, { force: true });
  }
}

interface Transfer {
  megabytes: number;
  perSecond: number;
}

async function transfers(size: number, path: string): Promise<{ down: Transfer; up: Transfer }> {
  const down = await watched(size, () => api.downloadFile(`/stream?bytes=${size}`, path));
  assert.equal((await stat(path)).size, size);
  const up = await watched(size, async () => {
    const { bytes } = await api.uploadFile<{ bytes: number }>("/sink", path, "file");
    assert.ok(bytes > size && bytes < size + 1000);
  });
  return { down, up };
}

async function watched(size: number, transfer: () => Promise<unknown>): Promise<Transfer> {
  let peak = process.memoryUsage.rss();
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const begun = performance.now();
  await transfer();
  clearInterval(watch);
  return { megabytes: peak / 1e6, perSecond: size / 1e6 / ((performance.now() - begun) / 1000) };
}

async function startServer(): Promise<{ server: ChildProcess; origin: string }> {
  const [program = "", ...args] = commandFor("node");
  const script = join(import.meta.dirname, "server.ts");
  const child = spawn(program, [...args, script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { server: child, origin: `http://127.0.0.1:${line.toString().trim()}` };
}
