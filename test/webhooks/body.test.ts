import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonContentType } from "../../server/webhooks/body.ts";
import fc from "../support/property.ts";
import { usedMs } from "../support/used-time.ts";

interface Result {
  runtime: string;
  size?: number;
  sha256?: string;
  code?: string;
  message?: string;
  before: string;
  after: string;
}

const program = fileURLToPath(new URL("body-server.ts", import.meta.url));
const runtimes = { node: [program], bun: [program], deno: ["run", "-A", program] };

async function startServer(command: string, args: string[]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child: child as ChildProcess, lines, port: Number((await lines.next()).value) };
}

async function stopServer(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.stdin?.end();
  await exit;
}

describe.each(Object.entries(runtimes))("reading a body on %s", (runtime, args) => {
  let child: ChildProcess;
  let lines: AsyncIterator<string>;
  let port: number;

  beforeAll(async () => {
    ({ child, lines, port } = await startServer(runtime, args));
  });
  afterAll(() => stopServer(child));

  async function open(text: string): Promise<Socket> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.on("error", () => undefined);
    socket.write(text);
    return socket;
  }

  const nextResult = async (): Promise<Result> => JSON.parse((await lines.next()).value);

  /** Sends a request and returns the server's result. */
  async function send(head: string, body: Uint8Array = new Uint8Array()): Promise<Result> {
    const socket = await open(`${head}\r\nHost: x\r\n\r\n`);
    socket.write(body);
    const result = await nextResult();
    socket.destroy();
    return result;
  }

  function chunked(body: Uint8Array, size: number): Buffer {
    const parts: Uint8Array[] = [];
    for (let at = 0; at < body.length; at += size) {
      const part = body.subarray(at, at + size);
      parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
    }
    return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
  }

  const bytes = (size: number) => Uint8Array.from({ length: size }, (_, at) => (at * 31) % 251);
  const sha256 = (body: Uint8Array) => createHash("sha256").update(body).digest("hex");

  test("runs on the expected runtime", async () => {
    expect((await send("POST /10 HTTP/1.1\r\nContent-Length: 0")).runtime).toBe(runtime);
  });

  test.each([0, 1, 999, 1000])(
    "returns the %i bytes sent, with a Content-Length and in chunks",
    async (size) => {
      const body = bytes(size);
      const expected = { size, sha256: sha256(body) };
      expect(await send(`POST /1000 HTTP/1.1\r\nContent-Length: ${size}`, body)).toMatchObject(expected);
      const inChunks = chunked(body, 100);
      expect(await send("POST /1000 HTTP/1.1\r\nTransfer-Encoding: chunked", inChunks)).toMatchObject(
        expected,
      );
    },
  );

  test("joins the chunks of a large body and removes its listeners", async () => {
    const body = bytes(3_000_000);
    const result = await send(`POST /3000000 HTTP/1.1\r\nContent-Length: ${body.length}`, body);
    expect(result).toMatchObject({ size: body.length, sha256: sha256(body) });
    expect(result.after).toBe(result.before);
  });

  test("refuses a Content-Length over the limit before the body arrives", async () => {
    expect(await send("POST /1000 HTTP/1.1\r\nContent-Length: 1001")).toMatchObject({
      code: "too_large",
      message: "The body must have at most 1000 bytes.",
    });
    expect(await send("POST /1000 HTTP/1.1\r\nContent-Length: 99999999999999")).toMatchObject({
      code: "too_large",
    });
  });

  test("refuses chunks as soon as they exceed the limit", async () => {
    const socket = await open("POST /1000 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    const piece = chunked(bytes(400), 400).subarray(0, -5);
    for (let sent = 0; sent < 3; sent++) socket.write(piece);
    const result = await nextResult();
    expect(result).toMatchObject({ code: "too_large" });
    const [data, end, close] = result.after.split(",").map(Number);
    const [dataBefore, endBefore, closeBefore] = result.before.split(",").map(Number);
    expect([data, end, close]).toEqual([dataBefore, endBefore, closeBefore]);
    socket.destroy();
  });

  test.each(["gzip", "br", "x, identity"])("refuses the content encoding %s", async (coding) => {
    const head = `POST /1000 HTTP/1.1\r\nContent-Length: 4\r\nContent-Encoding: ${coding}`;
    expect(await send(head, bytes(4))).toMatchObject({ code: "encoded" });
  });

  test("accepts the content encoding identity", async () => {
    const head = "POST /1000 HTTP/1.1\r\nContent-Length: 4\r\nContent-Encoding: Identity";
    expect(await send(head, bytes(4))).toMatchObject({ size: 4 });
  });

  test("times out a slow sender that keeps sending", async () => {
    const socket = await open("POST /1000/150 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
    const dripping = setInterval(() => socket.write("x"), 20);
    expect(await nextResult()).toMatchObject({
      code: "timeout",
      message: "The body took longer than 150 ms to arrive.",
    });
    clearInterval(dripping);
    socket.destroy();
  });

  test("reports a connection that closes within the body", async () => {
    for (const leave of ["destroy", "resetAndDestroy", "end"] as const) {
      const socket = await open("POST /1000 HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
      socket[leave]();
      expect(await nextResult(), leave).toMatchObject({ code: "aborted" });
    }
    const socket = await open(
      "POST /1000 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    );
    socket.end();
    expect(await nextResult()).toMatchObject({ code: "aborted" });
  });

  test("reads several requests on one connection", async () => {
    const one = `POST /1000 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello`;
    const socket = await open(one.repeat(3));
    for (let n = 0; n < 3; n++) expect(await nextResult()).toMatchObject({ size: 5 });
    socket.destroy();
  });
});

describe.each(Object.entries(runtimes))("reading a body over HTTP/2 on %s", (runtime, args) => {
  let child: ChildProcess;
  let lines: AsyncIterator<string>;
  let session: ClientHttp2Session;

  beforeAll(async () => {
    const started = await startServer(runtime, [...args, "h2"]);
    ({ child, lines } = started);
    session = connectHttp2(`http://127.0.0.1:${started.port}`);
    session.on("error", () => undefined);
  });
  afterAll(async () => {
    session.destroy();
    await stopServer(child);
  });

  function open(path: string): ClientHttp2Stream {
    const stream = session.request({ ":method": "POST", ":path": path });
    stream.on("error", () => undefined);
    stream.resume();
    return stream;
  }
  const nextResult = async (): Promise<Result> => JSON.parse((await lines.next()).value);

  test("returns the bytes sent, in one frame and in several", async () => {
    for (const size of [0, 5, 200_000]) {
      const body = Buffer.alloc(size, "abc");
      const stream = open("/200000");
      for (let at = 0; at < size; at += 50_000) stream.write(body.subarray(at, at + 50_000));
      stream.end();
      expect(await nextResult()).toMatchObject({ runtime, size });
    }
  });

  test("refuses a body over the limit and times out a slow sender", async () => {
    const large = open("/1000");
    large.write(Buffer.alloc(1001));
    expect(await nextResult()).toMatchObject({ code: "too_large" });
    large.close();
    const slow = open("/1000/100");
    slow.write("x");
    expect(await nextResult()).toMatchObject({ code: "timeout" });
    slow.close();
  });

  test("reports a stream reset and a closed connection within the body", async () => {
    for (const leave of ["stream", "session"] as const) {
      const stream = open("/1000/5000");
      await new Promise((resolve) => stream.write("half", resolve));
      // Closing a stream would end its body first.
      if (leave === "stream") stream.destroy(new Error("reset"));
      else session.destroy();
      expect(await nextResult(), leave).toMatchObject({ code: "aborted" });
    }
  });
});

describe("the content type of JSON", () => {
  const optional = (arbitrary: fc.Arbitrary<string>) => fc.oneof(fc.constant(""), arbitrary);
  const mixedCase = (text: string) =>
    fc
      .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
      .map((upper) => [...text].map((each, at) => (upper[at] ? each.toUpperCase() : each)).join(""));

  test("may have any letter case, spaces and parameters", () => {
    const type = fc.constantFrom(
      "application/json",
      "application/cloudevents+json",
      "a/b.c+json",
      "text/x+json",
    );
    const parameter = fc.constantFrom(
      ";charset=utf-8",
      "; charset=UTF-8",
      ' ;\tcharset="utf-8"',
      ";charset=utf8",
      ';q="a;b,c\\"d"',
      ";v=1",
      ";",
      "; ",
    );
    fc.assert(
      fc.property(
        type.chain(mixedCase),
        fc.array(parameter, { maxLength: 3 }),
        optional(fc.constant(" ")),
        (name, more, space) => {
          expect(isJsonContentType(`${space}${name}${more.join("")}`)).toBe(true);
        },
      ),
    );
  });

  test.each([
    undefined,
    "",
    "application/json, text/plain",
    "text/json",
    "application/jsonp",
    "application/json5",
    "application/x-json",
    "+json",
    "application/ld+jsonx",
    "application/x-www-form-urlencoded",
    "text/plain;charset=utf-8",
    "application/json;charset=utf-16",
    "application/json; charset=iso-8859-1",
    'application/json;charset="latin1"',
    "application/json;charset=utf-8;charset=ascii",
    "application/json;charset",
    "application/json;=utf-8",
    'application/json;a="b',
    "application/json charset=utf-8",
    "application/json/x",
  ])("is not %j", (value) => {
    expect(isJsonContentType(value)).toBe(false);
  });

  test("is parsed in linear time", () => {
    for (const unit of [";a=b", '"', ";", " ", "a", ';a="\\', "\\"]) {
      const used = usedMs(() => {
        isJsonContentType(`application/json;x="${unit.repeat(16_384)}`);
        isJsonContentType(`application/json${unit.repeat(16_384)}`);
      });
      expect(used).toBeLessThan(100);
    }
  });
});
