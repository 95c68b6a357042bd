/**
 * HTTP/2 clients that end their request short of its Content-Length when the response begins, as connect-go does. That is a
 * malformed request, and the runtime resets its stream: the response must be complete before.
 */
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { endStream, frame, frameType, preface, readFrames, request } from "../../support/frames.ts";
import type { TestServer } from "../../support/server.ts";
import { onEveryRuntime } from "../../support/suite.ts";

const rounds = 20;
const messageBytes = 7 * 1024 ** 2;
const runExecution = "/svc.v1.ExecutionService/RunExecution";
const watchExecution = "/svc.v1.ExecutionService/WatchExecution";

const calls: Record<string, [contentType: string, path: string, error: RegExp]> = {
  "a unary Connect call": ["application/json", runExecution, /"resource_exhausted"/],
  "a Connect stream": ["application/connect+proto", watchExecution, /"resource_exhausted"/],
  "a unary gRPC call": ["application/grpc", runExecution, /grpc-status|^$/],
  "a gRPC stream": ["application/grpc", watchExecution, /^$/],
  "a unary gRPC-Web call": ["application/grpc-web+proto", runExecution, /grpc-status: 8/],
  "a gRPC-Web stream": ["application/grpc-web+proto", watchExecution, /grpc-status: 8/],
};

onEveryRuntime("a client that stops sending at the response", {}, (server) => {
  test.each(Object.keys(calls))("gets the whole error of %s", async (name) => {
    const [contentType, path, error] = calls[name] ?? ["", "", /$./];
    const socket = await openSession(server);
    const frames = readFrames(socket);
    for (let stream = 1; stream < 2 * rounds; stream += 2) {
      const body = await refused(socket, frames, stream, path, contentType, server.apiKey);
      expect(body, `stream ${stream}`).toMatch(error);
    }
    socket.destroy();
  });
});

/** The body of the response to a call with a message over the limit, whose rest is not sent. */
async function refused(
  socket: Socket,
  frames: AsyncIterator<{ type: number; flags: number; stream: number; payload: Buffer }>,
  stream: number,
  path: string,
  contentType: string,
  key: string,
): Promise<string> {
  const message = Buffer.alloc(8_000, " ");
  message.writeUInt8(0);
  message.writeUInt32BE(messageBytes, 1);
  const headers = { "content-type": contentType, "content-length": String(messageBytes), te: "trailers" };
  socket.write(request(stream, path, "POST", { ...headers, authorization: `Bearer ${key}` }));
  socket.write(frame(frameType.data, 0, stream, message));
  let body = "";
  for (;;) {
    const { value, done } = await frames.next();
    if (done === true) throw new Error("The connection closed.");
    if (value.type === frameType.goaway) throw new Error(`GOAWAY ${value.payload.readUInt32BE(4)}`);
    if (value.stream !== stream) continue;
    if (value.type === frameType.resetStream) throw new Error(`RST_STREAM ${value.payload.readUInt32BE(0)}`);
    if (value.type === frameType.headers) socket.write(frame(frameType.data, endStream, stream));
    if (value.type === frameType.data) body += value.payload.toString("latin1");
    if ((value.type === frameType.data || value.type === frameType.headers) && value.flags & endStream)
      return body;
  }
}

function openSession(server: TestServer): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.setNoDelay(true);
      socket.write(Buffer.concat([preface, frame(frameType.settings, 0, 0)]));
      resolve(socket);
    });
    socket.once("error", reject);
  });
}
