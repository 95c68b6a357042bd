import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { load, startLimitProgram } from "./child.ts";
import { compare } from "./compare.ts";
import { runLoad } from "./load.ts";
import { bodyOf } from "./request.ts";

const short = { bodyBytes: 150, headers: {}, connections: 8, seconds: 0.3, warmupSeconds: 0.1 };

async function withServer<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe("the limit program", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-limit-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("keeps acknowledged rows when it is killed", async () => {
    const program = await startLimitProgram(folder);
    const result = await load({ ...short, url: program.url, body: '{"n":"{n}"}' });
    const exit = once(program.child, "exit");
    program.child.kill("SIGKILL");
    await exit;
    const database = new DatabaseSync(join(folder, "limit.db"));
    const row = database
      .prepare("SELECT COUNT(*) AS rows, COUNT(DISTINCT input) AS inputs FROM webhooks")
      .get();
    database.close();
    expect(result.statuses[202]).toBeGreaterThan(0);
    expect(row).toEqual({ rows: result.statuses[202], inputs: result.statuses[202] });
  });

  test("answers 400 to invalid JSON, which fails a measurement", async () => {
    const program = await startLimitProgram(folder);
    const options = { ...short, url: program.url, body: "{" };
    await expect(load(options)).rejects.toThrow(/every response must have the expected status.*"400"/);
    await expect(load({ ...options, expect: 400 })).resolves.toMatchObject({ lost: 0 });
    await program.stop();
  });
});

describe("the load", () => {
  test("sends the configured requests and counts responses, with a length and in chunks", async () => {
    const bodies = new Set<string>();
    const keys = new Set<string>();
    let served = 0;
    const result = await withServer(
      async (request, response) => {
        const chunks = await request.toArray();
        bodies.add(Buffer.concat(chunks).toString());
        keys.add(String(request.headers["idempotency-key"]));
        expect(request.url).toBe("/hook?a=b");
        response.statusCode = served++ % 10 === 9 ? 503 : 202;
        response.write("first ");
        if (served % 3 === 0) setImmediate(() => response.end("x".repeat(70_000)));
        else response.end("second");
      },
      (url) => runLoad({ ...short, url, headers: { "Idempotency-Key": "k-{n}" } }),
    );
    expect(bodies).toEqual(new Set([bodyOf(150)]));
    expect(keys.size).toBe(served);
    expect((result.statuses[202] ?? 0) + (result.statuses[503] ?? 0)).toBe(served);
    expect(result.statuses[503]).toBe(Math.floor(served / 10));
    expect(result.lost).toBe(0);
    expect(result.answers).toBeLessThan(result.statuses[202] ?? 0);
    expect(result.latencyMs.p50).toBeLessThanOrEqual(result.latencyMs.p99);
  });

  test("measures latency from the due time during a stall", async () => {
    let requests = 0;
    const result = await withServer(
      (request, response) => {
        request.resume();
        requests++;
        // A stall of 200 ms within 400 ms.
        if (requests === 100) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
        response.writeHead(202).end();
      },
      (url) => load({ ...short, url, seconds: 0.3, ratePerSecond: 500 }),
    );
    expect(requests).toBe(200);
    expect(result.statuses).toEqual({ 202: 200 });
    expect(result.latencyMs.max).toBeGreaterThan(150);
    // Half of the requests were due during the stall; a load that paused would show one slow request.
    expect(result.latencyMs.p90).toBeGreaterThan(50);
  });

  test("counts lost requests, and fails for an unreachable server", async () => {
    let served = 0;
    const result = await withServer(
      (request, response) => {
        request.resume();
        if (++served % 50 === 0) request.socket.destroy();
        else response.writeHead(202).end();
      },
      (url) => runLoad({ ...short, url }),
    );
    expect(result.lost).toBe(Math.floor(served / 50));
    const url = await withServer(
      () => undefined,
      async (gone) => gone,
    );
    await expect(runLoad({ ...short, url, seconds: 30 })).rejects.toThrow(/over 1000 connections failed/);
    await expect(runLoad({ ...short, url: "https://x/" })).rejects.toThrow(/must be an http URL/);
  });

  test.each([150, 8192])("makes a body of %i bytes", (bytes) => {
    expect(Buffer.byteLength(bodyOf(bytes))).toBe(bytes);
    expect(JSON.parse(bodyOf(bytes))).toHaveProperty("data.items");
  });
});

test("interleaves a comparison and reports the median ratio of the pairs", async () => {
  const order: string[] = [];
  const candidate = (name: string, values: number[]) => ({
    name,
    run: async () => {
      order.push(name);
      return values.shift() ?? Number.NaN;
    },
  });
  const result = await compare(candidate("a", [10, 40, 30]), candidate("b", [10, 10, 20]), 3);
  expect(order.join("")).toBe("abbaab");
  expect(result.pairs.map(({ ratio }) => ratio)).toEqual([1, 4, 1.5]);
  expect(result).toMatchObject({ names: ["a", "b"], a: 30, b: 10, ratio: 1.5, spread: { min: 1, max: 4 } });
});
