/** Streams of clients that vanish without closing their connection. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { frame, frameType, preface, request } from "../../support/frames.ts";
import { onEveryRuntime } from "../../support/suite.ts";

const follow = "/api/v1/logs?follow=true&lines=0";

onEveryRuntime("an HTTP/2 client with an open stream", { env: { SVC_KEEP_ALIVE_SECONDS: "1" } }, (server) => {
  const authorization = () => `Bearer ${server.apiKey}`;

  /** Sends frames, and then answers no frame, as a client behind a broken network. */
  function open(...frames: Buffer[]): Socket {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(Buffer.concat([preface, ...frames]));
    socket.on("error", () => {});
    return socket;
  }

  test.concurrent("is disconnected when it does not answer a PING", async () => {
    const key = { authorization: authorization() };
    const socket = open(frame(frameType.settings, 0, 0), request(1, follow, "GET", key));
    socket.resume();
    await once(socket, "end");
    socket.destroy();
  });

  test.concurrent("is disconnected when it does not read", async () => {
    const window = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);
    const more = Buffer.from([0x7f, 0, 0, 0]);
    const requests = Array.from({ length: 100 }, (_, index) => request(2 * index + 1, "/openapi.json"));
    const socket = open(
      frame(frameType.settings, 0, 0, window),
      frame(frameType.windowUpdate, 0, 0, more),
      ...requests,
    );
    // A socket that does not read notices the end only when it writes.
    const timer = setInterval(
      () => socket.write(frame(frameType.windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1]))),
      100,
    );
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(timer);
  });

  test.concurrent("keeps its stream when it answers", async () => {
    const session = connectHttp2(server.url);
    const stream = session.request({ ":path": follow, authorization: authorization() });
    await once(stream, "response");
    const closed = once(session, "close").then(() => "closed");
    for (let pings = 0; pings < 2; pings++) {
      expect(await Promise.race([once(session, "ping").then(() => "ping"), closed])).toBe("ping");
    }
    stream.close();
    session.close();
    await closed;
  });
});
