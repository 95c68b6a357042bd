/** Sends random bytes and mutated HTTP to the port. The server must survive and answer the next valid request. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { frame, frameType, preface, request } from "../../support/frames.ts";
import fc from "../../support/property.ts";
import { exchange, head } from "../../support/raw.ts";
import { rounds } from "../../support/rounds.ts";
import { runtimes } from "../../support/runtimes.ts";
import type { TestServer } from "../../support/server.ts";
import { onEveryRuntime } from "../../support/suite.ts";

const fuzzRounds = Math.ceil(rounds(240) / runtimes.length);
/** How long the server has for one sample before the client disconnects. */
const sampleMs = 30;

type Mutation = (bytes: Buffer<ArrayBufferLike>) => Buffer<ArrayBufferLike>;

function mutation(): fc.Arbitrary<Mutation> {
  const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const place = (bytes: Buffer, fraction: number) => Math.floor(fraction * bytes.length);
  const flip = fc.tuple(at, fc.nat(255)).map(([where, byte]) => (bytes: Buffer) => {
    if (bytes.length > 0) bytes[place(bytes, where)] = byte;
    return bytes;
  });
  const cut = at.map((where) => (bytes: Buffer) => bytes.subarray(0, place(bytes, where)));
  const remove = fc.tuple(at, fc.nat(20)).map(([where, count]) => (bytes: Buffer) => {
    const start = place(bytes, where);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + count)]);
  });
  const insert = fc.tuple(at, hostileText()).map(([where, text]) => (bytes: Buffer) => {
    const start = place(bytes, where);
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(text, "latin1"), bytes.subarray(start)]);
  });
  return fc.oneof(flip, cut, remove, insert);
}

function hostileText(): fc.Arbitrary<string> {
  return fc.constantFrom(
    "\r\n",
    "\n",
    "\0",
    "\r\n\r\n",
    "Host: a\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip\r\n",
    "Content-Length: -1\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "Expect: 100-continue\r\n",
    "Upgrade: h2c\r\nConnection: upgrade\r\n",
    "ffffffffffffffff\r\n",
    "%2e%2e/%00%ff",
    "/env/x".repeat(50),
    "\xff\xfe",
    "a".repeat(20_000),
    preface.toString("latin1"),
  );
}

function http1(): fc.Arbitrary<Buffer> {
  const line = fc.constantFrom(
    "GET /livez",
    "POST /api/v1/executions",
    "POST /webhook/org_x/agent/a/b",
    "POST /svc.v1.HealthService/Check",
    "PUT /storage/org_x/0",
    "OPTIONS *",
    "CONNECT a:1",
    "GET http://localhost/livez",
  );
  const headers = fc.constantFrom<Record<string, string | number>[]>(
    {},
    { "content-length": 4, "content-type": "application/json" },
    { "transfer-encoding": "chunked", "content-type": "application/grpc-web" },
    { "content-encoding": "gzip", "content-length": 20, "content-type": "application/proto" },
    { expect: "100-continue", "content-length": 4 },
  );
  const body = fc.constantFrom("", "{}  ", "4\r\n{}  \r\n0\r\n\r\n", "\0\0\0\0\x02{}");
  return fc.tuple(line, headers, body).map(([l, h, b]) => Buffer.from(head(l, h) + b, "latin1"));
}

function http2(): fc.Arbitrary<Buffer> {
  const path = fc.constantFrom("/livez", "/svc.v1.HealthService/Check", "/api/v1/executions", "*", "");
  const headers = fc
    .tuple(fc.constantFrom(1, 3, 5, 2, 0), path, fc.constantFrom("GET", "POST", "CONNECT"))
    .map(([stream, target, method]) =>
      request(stream, target, method, { "content-type": "application/grpc" }),
    );
  const any = fc
    .tuple(fc.nat(12), fc.nat(255), fc.constantFrom(0, 1, 2, 3, 0x7fffffff), fc.uint8Array({ maxLength: 40 }))
    .map(([type, flags, stream, payload]) => frame(type, flags, stream, payload));
  const data = fc
    .uint8Array({ maxLength: 64 })
    .map((payload) => frame(frameType.data, payload.length & 1, 1, payload));
  return fc
    .array(fc.oneof(headers, any, data), { minLength: 1, maxLength: 12 })
    .map((frames) => Buffer.concat([preface, frame(frameType.settings, 0, 0), ...frames]));
}

onEveryRuntime("a fuzzed port", {}, (server) => {
  test("survives and answers the next request", { timeout: 60_000 + fuzzRounds * 400 }, async () => {
    const pid = server.pid;
    const sample = fc
      .tuple(fc.oneof(http1(), http2()), fc.array(mutation(), { maxLength: 4 }))
      .map(([bytes, mutations]) =>
        mutations.reduce<Buffer>((result, mutate) => mutate(result), Buffer.from(bytes)),
      );
    const random = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const samples = fc.array(fc.oneof({ weight: 5, arbitrary: sample }, random), {
      minLength: 8,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(samples, async (several) => {
        await Promise.all(several.map((bytes) => send(server, bytes)));
        const [answer] = await exchange(server, head("GET /livez"));
        expect(answer?.status).toBe(200);
        expect(server.pid).toBe(pid);
      }),
      { numRuns: Math.ceil(fuzzRounds / 8) },
    );
  });
});

/** Sends the bytes and reads until the server closes the connection or the time is over. */
function send(server: TestServer, bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), sampleMs);
    socket.on("error", () => {});
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.resume();
  });
}
