/** Retries and broken connections, against HTTP servers that fail as told. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { create, toBinary, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createClient, isSvcError, type SvcError } from "../../client/index.ts";
import { RetryInfoSchema } from "../../proto/google/rpc/error_details_pb.ts";
import { ExecutionSchema } from "../../proto/svc/v1/execution_pb.ts";
import { deploy } from "../support/project.ts";
import { useServer } from "../support/suite.ts";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const executionId = "exe_00000000000000000000000000";
const json = (status: number, body: object, headers: Record<string, string> = {}): Answer => {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };
};
const execution = json(
  200,
  toJson(ExecutionSchema, create(ExecutionSchema, { executionId, status: "queued" })) as object,
);
const accepted = json(202, { execution_id: executionId, status: "queued" });
const unavailable = json(503, { code: "unavailable", message: "Not now." });
const html: Answer = (response) =>
  void response.writeHead(502, { "content-type": "text/html" }).end("<p>Bad gateway");
const hangUp: Answer = (response) => void response.destroy();
const refusal = (seconds: number): Answer => {
  const value = toBinary(
    RetryInfoSchema,
    create(RetryInfoSchema, { retryDelay: { seconds: BigInt(seconds) } }),
  );
  const details = [{ type: "google.rpc.RetryInfo", value: Buffer.from(value).toString("base64") }];
  return json(429, { code: "resource_exhausted", message: "Too many requests.", details });
};

let answers: Answer[] = [];
let requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  request.resume();
  const answer = answers.shift() ?? unavailable;
  request.once("end", () => answer(response, request));
});
let baseUrl = "";

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function outcome(
  script: readonly Answer[],
  call: (client: ReturnType<typeof createClient>) => Promise<unknown>,
  maxDelayMs = 20,
): Promise<{ tries: number; error: SvcError | null }> {
  answers = [...script];
  requests = [];
  const client = createClient({ baseUrl, apiKey: "key", retry: { attempts: 3, maxDelayMs } });
  const error = await call(client).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error !== null && !isSvcError(error)) throw error;
  return { tries: requests.length, error };
}

type Call = Parameters<typeof outcome>[1];
const get: Call = (client) => client.get(executionId);
const start: Call = (client) => client.start("echo", {});
const keyedStart: Call = (client) => client.start("echo", {}, { idempotencyKey: "once" });
const trigger: Call = (client) => client.trigger(`${baseUrl}/webhook`, {});
const keyed: Call = (client) => client.trigger(`${baseUrl}/webhook`, {}, { idempotencyKey: "once" });

describe("repeats", () => {
  test.each<[string, Call, Answer[]]>([
    ["a read that was unavailable", get, [unavailable, unavailable, execution]],
    ["a read whose connection broke", get, [hangUp, execution]],
    ["a read behind a proxy without a backend", get, [html, execution]],
    ["a start that the server refused with RetryInfo", start, [refusal(0), execution]],
    ["a start with an idempotency key", keyedStart, [unavailable, hangUp, execution]],
    ["a webhook request that the server refused with RetryInfo", trigger, [refusal(0), accepted]],
    ["a webhook request with an idempotency key", keyed, [unavailable, hangUp, accepted]],
  ])("%s", async (_, call, script) => {
    expect(await outcome(script, call)).toEqual({ tries: script.length, error: null });
  });
});

describe("does not repeat", () => {
  test.each<[string, Call, Answer[], number]>([
    ["a start that may have happened", start, [unavailable], 1],
    ["a start whose connection broke", start, [hangUp], 1],
    ["a webhook request without a key", trigger, [unavailable], 1],
    ["a read that was wrong", get, [json(404, { code: "not_found", message: "No." })], 1],
    ["a call more often than allowed", get, [unavailable, unavailable, unavailable, execution], 3],
    ["a call whose pause would be too long", start, [refusal(60), execution], 1],
  ])("%s", async (_, call, script, tries) => {
    const result = await outcome(script, call);
    expect(result.tries).toBe(tries);
    expect(result.error).not.toBeNull();
  });
});

test("reports the pause that the server asks for", async () => {
  const { error } = await outcome([refusal(60)], start);
  expect(error).toMatchObject({ code: "resource_exhausted", retryAfterMs: 60_000 });
});

test("ends a pause when the signal is aborted", async () => {
  answers = [refusal(30)];
  const client = createClient({ baseUrl, apiKey: "key", retry: { maxDelayMs: 60_000 } });
  const controller = new AbortController();
  const answered = once(server, "request");
  const call = client.start("echo", {}, { signal: controller.signal }).catch((error: unknown) => error);
  await answered;
  controller.abort("stop");
  expect(await call).toBe("stop");
});

test("sends the key to the service only, and follows no redirect", async () => {
  const redirect: Answer = (response) => void response.writeHead(307, { location: `${baseUrl}/other` }).end();
  const { tries, error } = await outcome([redirect], keyed);
  expect([tries, error?.code]).toEqual([1, "failed_precondition"]);
  expect(requests[0]?.headers.authorization).toBeUndefined();
  await outcome([execution], get);
  expect(requests[0]?.headers.authorization).toBe("Bearer key");
});

describe("a broken stream", () => {
  const service = useServer("bun");

  test("is resumed without loss and repetition", async () => {
    const code =
      "export default async () => { for (let n = 0; n < 30; n++) { console.log('line ' + n); await new Promise((r) => setTimeout(r, 20)); } return 'done'; };";
    await deploy(service, { agents: { prints: code } });
    const { url, cut } = await startProxy(Number(new URL(service.url).port));
    const client = createClient({ baseUrl: url, apiKey: service.apiKey, retry: { maxDelayMs: 50 } });
    const { executionId: id } = await client.start("prints");
    const lines: string[] = [];
    let result: unknown;
    for await (const event of client.watch(id)) {
      if (event.type === "execution") result = event.execution.output;
      else if (event.log.source === "console") {
        if (lines.push(event.log.message) % 8 === 0) cut();
      }
    }
    expect(lines).toEqual(Array.from({ length: 30 }, (_, n) => `line ${n}`));
    expect(result).toBe("done");
  });

  test("ends with an error when the service stays away", async () => {
    const { url, cut, close } = await startProxy(Number(new URL(service.url).port));
    const client = createClient({
      baseUrl: url,
      apiKey: service.apiKey,
      retry: { attempts: 2, maxDelayMs: 50 },
    });
    const following = client.logs({ follow: true, lines: 1 });
    await following.next();
    close();
    cut();
    await expect(following.next()).rejects.toMatchObject({ code: "unavailable", reason: "UNREACHABLE" });
  });
});

/** A TCP proxy whose connections can be cut. */
async function startProxy(port: number): Promise<{ url: string; cut(): void; close(): void }> {
  const open = new Set<Socket>();
  const proxy = createTcpServer((socket) => {
    const upstream = connect(port, "127.0.0.1");
    for (const one of [socket, upstream]) {
      open.add(one);
      one.on("error", () => one.destroy());
      one.on("close", () => open.delete(one));
    }
    socket.pipe(upstream).pipe(socket);
  });
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const close = () => void proxy.close();
  onTestFinished(() => {
    close();
    cut();
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cut, close };
}
