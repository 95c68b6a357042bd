/** Sends messages to the server through the descriptor of the channel, bypassing the runner. */
import fs from "node:fs";
import { Socket } from "node:net";
import type { Context } from "../../../../project/authoring.ts";

const channel = 3;

function frame(body: string | Buffer, kind = 0): Buffer {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(bytes.length, 0);
  header.writeUInt8(kind, 4);
  return Buffer.concat([header, bytes]);
}

/** Users' code on Deno cannot use a descriptor that it did not open, but it can intercept the runner's socket. */
function catchSocket(): Socket {
  const { write } = Socket.prototype;
  let caught: Socket | undefined;
  Socket.prototype.write = function (this: Socket, ...values: unknown[]) {
    caught = this;
    return (write as (...all: unknown[]) => boolean).apply(this, values);
  } as typeof write;
  console.log("caught");
  Socket.prototype.write = write;
  if (caught === undefined) throw new Error("The runner did not write to its socket");
  return caught;
}

const socket = process.versions.deno === undefined ? null : catchSocket();

function send(bytes: Buffer): void {
  if (socket !== null) {
    socket.write(bytes);
    return;
  }
  let sent = 0;
  while (sent < bytes.length) {
    try {
      sent += fs.writeSync(channel, bytes, sent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

const message = (...messages: unknown[]): Buffer => frame(JSON.stringify(messages));

type Forgery = (ctx: Context, other: string) => void;

const response = { status: 200, headers: {}, body: "" };
const respond = (id: string, more: object) => ({ t: "respond", id, response: { ...response, ...more } });

const log = (id: string, fields: string) => ({
  t: "log",
  entries: [{ id, level: "info", text: "", fields, atMs: Date.now() }],
});

const span = (id: string, more: object) => ({
  t: "span",
  id,
  span: {
    spanId: "00f067aa0ba902b7",
    parentId: "00f067aa0ba902b7",
    name: "a",
    kind: 0,
    startMs: 1,
    endMs: 2,
    attributes: {},
    events: [],
    status: { code: 0, message: "" },
    scope: "s",
    ...more,
  },
});

const forgeries: Record<string, Forgery> = {
  spanForOther: (_, other) => send(message(span(other, {}))),
  spanShape: ({ executionId: id }) => send(message(span(id, { attributes: { a: {} } }))),
  manySpans: ({ executionId: id }) => send(message(...Array.from({ length: 1001 }, () => span(id, {})))),
  respondForOther: (_, other) => send(message(respond(other, {}))),
  respondTwice: ({ executionId: id }) => send(message(respond(id, {}), respond(id, {}))),
  respondCookie: ({ executionId: id }) => send(message(respond(id, { headers: { "set-cookie": "a=b" } }))),
  respondLineEnd: ({ executionId: id }) => send(message(respond(id, { headers: { a: "b\r\nc: d" } }))),
  respondShape: ({ executionId: id }) => send(message(respond(id, { body: null }))),
  fieldsNotJson: ({ executionId: id }) => send(message(log(id, "{not: JSON}"))),
  fieldsNotObject: ({ executionId: id }) => send(message(log(id, "[1]"))),
  fieldsTooLong: ({ executionId: id }) => send(message(log(id, JSON.stringify({ a: "x".repeat(100_000) })))),
  doneForOther: (_, other) => send(message({ t: "done", id: other, output: '"forged"' })),
  failForOther: (_, other) =>
    send(
      message({
        t: "fail",
        id: other,
        error: { name: "", message: "", stack: "" },
        final: true,
        reason: "thrown",
      }),
    ),
  runForOther: (_, other) =>
    send(message({ t: "runChild", id: other, index: 0, name: "a", input: {}, key: null, spanId: null })),
  logForOther: (_, other) =>
    send(message({ t: "log", entries: [{ id: other, level: "info", text: "forged", atMs: 0 }] })),
  doneTwice: ({ executionId }) =>
    send(message({ t: "done", id: executionId, output: "1" }, { t: "done", id: executionId, output: "2" })),
  runOutOfOrder: ({ executionId }) =>
    send(
      message({ t: "runChild", id: executionId, index: 7, name: "a", input: {}, key: null, spanId: null }),
    ),
  runFlood: ({ executionId }) => {
    const call = (index: number): unknown => ({
      t: "runChild",
      id: executionId,
      index,
      name: "gate",
      input: { gate: "never" },
      key: null,
      spanId: null,
    });
    for (let i = 0; i < 100_000; i += 100)
      send(message(...Array.from({ length: 100 }, (_, k) => call(i + k))));
  },
  ready: () => send(message({ t: "ready" })),
  loaded: () =>
    send(message({ t: "loaded", module: "agents/x.ts", error: null, file: null, line: null, schemas: null })),
  unknownType: () => send(message({ t: "shutdown" })),
  unknownKind: () => send(frame("[]", 9)),
  notJson: () => send(frame("[{]")),
  notArray: () => send(frame("{}")),
  notObject: () => send(message(null)),
  prototype: () => send(frame('[{"__proto__":{"t":"ready"}}]')),
  wrongShape: ({ executionId }) => send(message({ t: "done", id: executionId, output: { not: "text" } })),
  wrongReason: ({ executionId }) =>
    send(
      message({
        t: "fail",
        id: executionId,
        error: { name: "", message: "", stack: "" },
        final: 1,
        reason: "memory",
      }),
    ),
  outputNotJson: ({ executionId }) => send(message({ t: "done", id: executionId, output: "{" })),
  outputTooDeep: ({ executionId }) =>
    send(message({ t: "done", id: executionId, output: `${"[".repeat(100)}${"]".repeat(100)}` })),
  outputTooLong: ({ executionId }) =>
    send(message({ t: "done", id: executionId, output: `"${"x".repeat(1_000_001)}"` })),
  largeOutputNotJson: ({ executionId }) => {
    const id = Buffer.from(executionId);
    send(frame(Buffer.concat([Buffer.from([id.length]), id, Buffer.from(`"${"x".repeat(900_000)}`)]), 1));
  },
  largeOutputForOther: (_, other) => {
    const id = Buffer.from(other);
    send(frame(Buffer.concat([Buffer.from([id.length]), id, Buffer.from("1")]), 1));
  },
  outputCutShort: () => send(frame(Buffer.from([200, 1, 2]), 1)),
  hugeHeader: () => send(Buffer.from([0xff, 0xff, 0xff, 0xff, 0])),
  logLines: ({ executionId }) => {
    const entry = { id: executionId, level: "info", text: "line", atMs: 0 };
    for (let i = 0; i < 50; i++)
      send(message({ t: "log", entries: Array.from({ length: 50 }, () => entry) }));
  },
  pongFlood: () => {
    const pongs = message(...Array.from({ length: 1000 }, (_, n) => ({ t: "pong", n })));
    for (let i = 0; i < 2000; i++) send(pongs);
  },
  strayFlood: () => {
    const entry = { id: null, level: "info", text: "y".repeat(500), atMs: 0 };
    const lines = message({ t: "log", entries: Array.from({ length: 100 }, () => entry) });
    for (let i = 0; i < 500; i++) send(lines);
  },
  close: () => (socket === null ? fs.closeSync(channel) : socket.destroy()),
};

export default async function forge(input: { forgery: string; other?: string; gate?: string }, ctx: Context) {
  if (input.gate !== undefined) await ctx.run("gate", { gate: input.gate });
  forgeries[input.forgery]?.(ctx, input.other ?? "exe_other");
  // The server must end this process, however fast this function would return.
  if (!/Flood$/.test(input.forgery)) await new Promise(() => {});
  return "flooded";
}
