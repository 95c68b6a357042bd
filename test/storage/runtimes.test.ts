/** The S3 driver on each runtime, while the first try of every request fails. Each has its own `fetch`. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Timing } from "../../server/storage/s3/timing.ts";
import { type Fault, FaultProxy } from "../support/fault-proxy.ts";
import { bareEnvironment, commandOf, root, runtimes } from "../support/runtimes.ts";
import { configOf, type S3Endpoint, startS3 } from "../support/s3.ts";

/** More attempts than faults, because a busy machine exceeds the timeouts too. */
const timing: Timing = {
  timeoutMs: 1_000,
  idleMs: 1_000,
  minBytesPerSecond: 8 * 2 ** 20,
  attempts: 6,
  backoffMs: 5,
  checkMs: 0,
  failedCheckMs: 0,
};

let folder: string;
let s3: S3Endpoint;
let proxy: FaultProxy;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-storage-"));
  s3 = await startS3();
  proxy = new FaultProxy(s3.endpoint);
  await proxy.start();
});

afterAll(async () => {
  await proxy.close();
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

const faults: readonly Fault[] = [
  { kind: "lost" },
  { kind: "status", status: 503, code: "SlowDown" },
  { kind: "truncate", bytes: 100_000 },
  { kind: "stall", bytes: -1 },
  { kind: "stall", bytes: 100_000 },
];

/** Each round begins with another fault, so that an operation meets several. `npm run test:runtimes` runs all. */
const offsets = process.env.ALL_RUNTIMES === undefined ? [0] : [0, 2, 3];
const rounds = runtimes.flatMap((runtime) => offsets.map((offset) => ({ runtime, offset })));

test.each(rounds)("every operation succeeds on $runtime, from fault $offset", async ({ runtime, offset }) => {
  const failed = new Set<string>();
  proxy.reset(({ method, url, headers }) => {
    // The check of the driver has two attempts only, and the client of the test has no timeout.
    if (url.endsWith("/probe") || url.includes("X-Amz-Signature")) return null;
    const id = `${method} ${url} ${headers.range ?? ""}`;
    if (failed.has(id)) return null;
    failed.add(id);
    return faults[(failed.size + offset) % faults.length] ?? null;
  });
  const [program, ...args] = commandOf(runtime);
  const input = JSON.stringify({ folder, config: configOf(s3, proxy.url), timing });
  const script = join(root, "test/storage/driver-main.ts");
  const { stdout } = await promisify(execFile)(program, [...args, script, input], { env: bareEnvironment() });
  expect(stdout).toBe("done\n");
  expect(proxy.faults).toBeGreaterThan(15);
});
