/** S3 is slow, fails, loses responses or sends damaged bodies: a proxy in front of a real endpoint causes it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { errorJson, StartError } from "../../server/errors.ts";
import { StorageError } from "../../server/storage/errors.ts";
import { openS3Storage } from "../../server/storage/s3/index.ts";
import type { S3Storage } from "../../server/storage/s3/storage.ts";
import type { Timing } from "../../server/storage/s3/timing.ts";
import { type Fault, FaultProxy, type SeenRequest } from "../support/fault-proxy.ts";
import { configOf, type S3Endpoint, startS3 } from "../support/s3.ts";
import { limits, pieces, put, read, sample, uploadOf } from "./samples.ts";

const timing: Timing = {
  timeoutMs: 10_000,
  idleMs: 10_000,
  minBytesPerSecond: 2 ** 20,
  attempts: 3,
  backoffMs: 5,
  checkMs: 0,
  failedCheckMs: 0,
};
/** For faults that end with a timeout. More attempts, because a busy machine exceeds the timeouts too. */
const impatient: Timing = { ...timing, timeoutMs: 500, idleMs: 500, attempts: 6 };

let folder: string;
let s3: S3Endpoint;
let proxy: FaultProxy;
let storage: S3Storage;
let impatientStorage: S3Storage;
let logged: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-storage-"));
  s3 = await startS3();
  proxy = new FaultProxy(s3.endpoint);
  await proxy.start();
  storage = await openS3Storage(folder, configOf(s3, proxy.url), limits, timing);
  impatientStorage = await openS3Storage(folder, configOf(s3, proxy.url), limits, impatient);
});

afterAll(async () => {
  await proxy.close();
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  proxy.reset();
  logged = "";
  vi.spyOn(console, "error").mockImplementation((...values: unknown[]) => {
    logged += `${values.join(" ")}\n`;
  });
});

/** The first `times` requests that match fail. */
const fail = (times: number, fault: Fault, matches: (request: SeenRequest) => boolean = () => true) =>
  proxy.reset((request, count) => (count < times && matches(request) ? fault : null));
const always = Number.POSITIVE_INFINITY;
const slowDown: Fault = { kind: "status", status: 503, code: "SlowDown" };
const noAnswer: Fault = { kind: "stall", bytes: -1 };

const transient: [title: string, fault: Fault][] = [
  ["answers 503 SlowDown", slowDown],
  ["answers 500", { kind: "status", status: 500, code: "InternalError" }],
  ["answers 400 RequestTimeout", { kind: "status", status: 400, code: "RequestTimeout" }],
  ["loses the response", { kind: "lost" }],
];

test("a request without an answer is repeated", async () => {
  const stored = sample(3000);
  fail(1, noAnswer);
  await impatientStorage.put(stored.key, stored.bytes.length, pieces(stored.bytes));
  fail(1, noAnswer);
  expect((await read(await impatientStorage.get(stored.key)))?.equals(stored.bytes)).toBe(true);
  expect(proxy.faults).toBe(1);
});

describe.each(transient)("every operation succeeds when S3 %s:", (_, fault) => {
  const stored = sample(3000);
  const operations: [name: string, run: () => Promise<unknown>, expected: unknown][] = [
    ["put", () => storage.put(stored.key, stored.bytes.length, pieces(stored.bytes)), undefined],
    ["get", async () => (await read(await storage.get(stored.key)))?.equals(stored.bytes), true],
    ["size", () => storage.sizeOf(stored.key), stored.bytes.length],
    ["check", () => storage.check(), undefined],
    ["delete", () => storage.delete(stored.key), undefined],
  ];

  test.each(operations)("%s", async (name, run, expected) => {
    // A check has two attempts.
    const times = name === "check" ? 1 : 2;
    fail(times, fault);
    expect(await run()).toEqual(expected);
    expect(proxy.faults).toBe(times);
  });
});

describe("a large package", () => {
  const stored = sample(17 * 2 ** 20);
  beforeEach(() => storage.delete(stored.key));

  const isStart = ({ method, url }: SeenRequest) => method === "POST" && url.includes("uploads=");
  const isPart = ({ url }: SeenRequest) => url.includes("partNumber=2");
  const isEnd = ({ method, url }: SeenRequest) => method === "POST" && url.includes("uploadId=");

  test.each<[step: string, fault: Fault, matches: (request: SeenRequest) => boolean]>([
    ["the start", { kind: "lost" }, isStart],
    ["a part", { kind: "lost" }, isPart],
    ["a part, busy", slowDown, isPart],
    ["the end", { kind: "lost" }, isEnd],
    ["the end, busy", slowDown, isEnd],
  ])("is stored when S3 loses %s", async (_, fault, matches) => {
    fail(1, fault, matches);
    await storage.put(stored.key, stored.bytes.length, pieces(stored.bytes));
    expect(proxy.faults).toBe(1);
    expect((await read(await storage.get(stored.key)))?.equals(stored.bytes)).toBe(true);
  });

  test("is not stored when a part fails, and its multipart upload is aborted", async () => {
    fail(always, slowDown, isPart);
    await expect(storage.put(stored.key, stored.bytes.length, pieces(stored.bytes))).rejects.toThrow(
      /503 SlowDown/,
    );
    expect(proxy.seen.some(({ method, url }) => method === "DELETE" && url.includes("uploadId="))).toBe(true);
    expect(await storage.get(stored.key)).toBeNull();
  });
});

describe("a download", () => {
  const stored = sample(3 * 2 ** 20);
  const isGet = ({ method }: SeenRequest) => method === "GET";
  const store = () => storage.put(stored.key, stored.bytes.length, pieces(stored.bytes));

  test.each<[title: string, fault: Fault]>([
    ["is truncated", { kind: "truncate", bytes: 500_000 }],
    ["stalls", { kind: "stall", bytes: 500_000 }],
  ])("continues at the byte that it reached when it %s", async (_, fault) => {
    await store();
    fail(2, fault, isGet);
    const reader = fault.kind === "stall" ? impatientStorage : storage;
    expect((await read(await reader.get(stored.key)))?.equals(stored.bytes)).toBe(true);
    const ranges = proxy.seen
      .filter(isGet)
      .map(({ headers }) => Number(/\d+/.exec(headers.range ?? "0")?.[0]));
    expect(ranges.length).toBeGreaterThanOrEqual(3);
    expect(ranges).toEqual(ranges.toSorted((a, b) => a - b));
    expect(ranges[1]).toBeGreaterThan(0);
  });

  test("fails when it makes no progress", async () => {
    await store();
    fail(always, { kind: "truncate", bytes: 0 }, isGet);
    const failure = await storage
      .get(stored.key)
      .then(read)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StorageError);
    expect(proxy.faults).toBeLessThanOrEqual(timing.attempts ** 2);
  }, 20_000);

  test("of a staged upload that is damaged is not stored", async () => {
    const sent = sample(200_000);
    const upload = uploadOf(sent);
    const [{ url } = { url: "" }] = await storage.signUpload(upload, false);
    expect((await put(url, sent.bytes)).status).toBe(200);
    fail(1, { kind: "corrupt" }, isGet);
    await expect(storage.staging.confirm(upload)).rejects.toThrow(/not a gzip archive|digest/);
    expect(await storage.get(sent.key)).toBeNull();
    // The upload itself is intact.
    expect(await storage.staging.confirm(upload)).toBe(true);
  });
});

describe("an upload is confirmed again", () => {
  test.each<[step: string, matches: (request: SeenRequest) => boolean]>([
    ["reading the upload", ({ method }) => method === "GET"],
    ["storing the package", ({ method }) => method === "PUT"],
    ["removing the upload", ({ method }) => method === "DELETE"],
  ])("after a failure while %s", async (_, matches) => {
    const sent = sample(2000);
    const upload = uploadOf(sent);
    const [{ url } = { url: "" }] = await storage.signUpload(upload, false);
    await put(url, sent.bytes);
    fail(always, slowDown, matches);
    await storage.staging
      .confirm(upload)
      .catch((error: unknown) => expect(error).toBeInstanceOf(StorageError));
    proxy.reset();
    expect(await storage.staging.confirm(upload)).toBe(true);
    expect((await read(await storage.get(sent.key)))?.equals(sent.bytes)).toBe(true);
    expect(await storage.staging.confirm(upload)).toBe(false);
  });
});

describe("when S3 stays unavailable, the error", () => {
  test.each<[fault: Fault, summary: string, attempts: number]>([
    [slowDown, "it answered 503 SlowDown", timing.attempts],
    [noAnswer, "it did not answer within 0.5 s", impatient.attempts],
  ])("is `unavailable` after the last attempt: %o", async (fault, summary, attempts) => {
    fail(always, fault);
    const failing = fault === noAnswer ? impatientStorage : storage;
    const failure = (await failing.sizeOf(sample(1).key).catch((error: unknown) => error)) as StorageError;
    expect(failure).toBeInstanceOf(StorageError);
    expect(failure.code).toBe(Code.Unavailable);
    expect(failure.rawMessage).toBe(`The object storage is not available: ${summary}. Try again later.`);
    expect(failure.metadata.get("retry-after")).toBe("5");
    expect(errorJson(failure)).toMatchObject({
      details: [{ debug: { reason: "STORAGE_UNAVAILABLE", domain: "svc" } }, {}],
    });
    expect(proxy.faults).toBe(attempts);
    expect(logged).toContain(summary);
    expect(logged).not.toContain("S3RVER");
  });
});

test("a failed request makes the next check a new one", async () => {
  const patient = await openS3Storage(folder, configOf(s3, proxy.url), limits, {
    ...timing,
    checkMs: 60_000,
  });
  proxy.reset();
  await patient.check();
  expect(proxy.seen).toEqual([]);
  fail(always, slowDown);
  await patient.delete(sample(1).key).catch(() => {});
  await expect(patient.check()).rejects.toThrow(/503 SlowDown/);
  proxy.reset();
  await expect(patient.check()).resolves.toBeUndefined();
});

describe("at the start", () => {
  const open = (change: object, limit = timing) =>
    openS3Storage(folder, { ...configOf(s3, proxy.url), ...change }, limits, limit).then(
      () => null,
      (error: unknown) => error as StartError,
    );

  test.each<[title: string, change: object, message: RegExp]>([
    ["an unknown access key", { accessKeyId: "unknown" }, /rejects the credentials \(InvalidAccessKeyId\)/],
    [
      "a wrong secret",
      { secretAccessKey: "wrong-secret" },
      /rejects the credentials \(SignatureDoesNotMatch\)/,
    ],
    [
      "a wrong bucket",
      { bucket: "no-such-bucket" },
      /s3:\/\/no-such-bucket\/.*: the bucket does not exist\./,
    ],
  ])("%s is named", async (_, change, message) => {
    const failure = await open(change);
    expect(failure).toBeInstanceOf(StartError);
    expect(failure?.message).toMatch(message);
    expect(failure?.advice).toContain("AWS_ACCESS_KEY_ID");
    expect(`${failure?.message}${logged}`).not.toContain("wrong-secret");
  });

  test.each<[status: number, code: string, message: RegExp]>([
    [403, "AccessDenied", /denies access to the bucket \(AccessDenied\)/],
    [301, "PermanentRedirect", /is in another region \(301 PermanentRedirect\)/],
    [403, "RequestTimeTooSkewed", /the clock of the server is wrong/],
  ])("%i %s is named", async (status, code, message) => {
    fail(always, { kind: "status", status, code });
    expect((await open({}))?.message).toMatch(message);
    expect(proxy.faults).toBe(1);
  });

  test.each<[title: string, change: object, fault: Fault]>([
    ["is busy", {}, slowDown],
    ["does not answer", {}, noAnswer],
    ["refuses connections", { endpoint: "http://127.0.0.1:1" }, slowDown],
  ])("a storage that %s causes a warning only", async (_, change, fault) => {
    fail(always, fault);
    expect(await open(change, impatient)).toBeNull();
    expect(logged).toMatch(/Warning: Cannot use the object storage s3:.*The server starts and tries again\./);
  });
});
