/** Routes of the test servers by the second segment of the path (`/v1/echo`). */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

const pieceBytes = 65_536;
/** Number of requests for each key of `flaky`. */
const tries = new Map<string, number>();

export const routes: Record<string, Route | undefined> = {
  /** Returns the request as JSON. */
  async echo(request, response) {
    const { method, url, headers } = request;
    json(response, 200, { method, url, headers, body: (await read(request)).toString() });
  },
  /** `?type=…&body=…&status=…`: the body with that content type, or without one. */
  async reply(request, response) {
    await read(request);
    const query = queryOf(request);
    const type = query.get("type");
    const body = query.has("hex") ? Buffer.from(query.get("hex") ?? "", "hex") : (query.get("body") ?? "");
    response.writeHead(Number(query.get("status") ?? 200), {
      ...(type !== null && { "content-type": type }),
      ...(query.has("after") && { "retry-after": query.get("after") ?? "" }),
      ...(query.has("chunked") && { "transfer-encoding": "chunked" }),
    });
    response.end(body);
  },
  /** `?to=…&status=…`: a redirect; without `to`, without a Location. */
  async redirect(request, response) {
    await read(request);
    const to = queryOf(request).get("to");
    response.writeHead(
      Number(queryOf(request).get("status") ?? 302),
      to === null ? {} : { location: ascii(to) },
    );
    response.end("moved");
  },
  /** `?left=n`: n redirects, then the echo. */
  hops(request, response) {
    const left = Number(queryOf(request).get("left"));
    if (left === 0) return routes.echo?.(request, response);
    response.writeHead(302, { location: `/v1/hops?left=${left - 1}` }).end();
  },
  /** Never responds. */
  silent() {},
  /** Starts a response and never ends it. */
  stalled(_request, response) {
    response.writeHead(Number(queryOf(_request).get("status") ?? 200), {
      "content-type": "application/json",
      "content-length": 1000,
    });
    response.write('{"a":');
  },
  /** Closes the connection in the middle of the body; `?chunked` omits the length. */
  cut(request, response) {
    const type = queryOf(request).get("type") ?? "application/octet-stream";
    const length = queryOf(request).has("chunked") ? {} : { "content-length": 100_000 };
    response.writeHead(200, { "content-type": type, ...length });
    response.write(Buffer.alloc(5_000, 120), () => request.socket.destroy());
  },
  /** `?fails=n&status=…&after=…&key=…`: fails n times, then returns the number of requests. */
  async flaky(request, response) {
    await read(request);
    const query = queryOf(request);
    const key = query.get("key") ?? "";
    const count = (tries.get(key) ?? 0) + 1;
    tries.set(key, count);
    if (count > Number(query.get("fails"))) return json(response, 200, { count });
    const after = query.get("after");
    if (query.get("status") === "cut") return void request.socket.destroy();
    response.writeHead(Number(query.get("status") ?? 503), after === null ? {} : { "retry-after": after });
    response.end();
  },
  /** `?encoding=gzip|deflate|br&bytes=n`: zeros, or a JSON string of `bytes` characters with `json`. */
  packed(request, response) {
    const query = queryOf(request);
    const bytes = Number(query.get("bytes"));
    const plain = query.has("json") ? Buffer.from(JSON.stringify("x".repeat(bytes))) : Buffer.alloc(bytes);
    const wanted = query.get("encoding") ?? "gzip";
    const encoding = String(request.headers["accept-encoding"]).includes(wanted) ? wanted : "identity";
    const pack =
      { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[encoding] ?? ((data: Buffer) => data);
    const body = pack(plain);
    response.writeHead(200, {
      "content-type": query.has("json") ? "application/json" : "application/octet-stream",
      "content-encoding": encoding,
      "content-length": body.length,
    });
    response.end(query.has("short") ? body.subarray(0, body.length >> 1) : body);
    if (query.has("short")) request.socket.destroySoon();
  },
  /** `?bytes=n`: n bytes, each chunk filled with its number; `chunked` omits the length. */
  async stream(request, response) {
    const query = queryOf(request);
    const bytes = Number(query.get("bytes"));
    response.writeHead(200, {
      "content-type": query.get("type") ?? "application/octet-stream",
      ...(!query.has("chunked") && { "content-length": bytes }),
    });
    for (let sent = 0; sent < bytes; sent += pieceBytes) {
      const piece = Buffer.alloc(Math.min(pieceBytes, bytes - sent), (sent / pieceBytes) & 255);
      if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end();
  },
  /** Reads a form with one file, slowly with `slow`, and describes it. */
  async form(request, response) {
    const body = await read(request, queryOf(request).has("slow"));
    const boundary = /boundary=(.+)$/.exec(request.headers["content-type"] ?? "")?.[1] ?? "";
    const headEnd = body.indexOf("\r\n\r\n");
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    const file = body.subarray(headEnd + 4, body.length - tail.length);
    json(response, 200, {
      head: body.subarray(0, headEnd).toString(),
      boundary,
      closed: body.subarray(-tail.length).equals(tail),
      bytes: file.length,
      sha256: createHash("sha256").update(file).digest("hex"),
      contentLength: request.headers["content-length"] ?? null,
      transferEncoding: request.headers["transfer-encoding"] ?? null,
      bodyBytes: body.length,
      authorization: request.headers.authorization ?? null,
    });
  },
  /** Counts a body of any size. */
  async sink(request, response) {
    let bytes = 0;
    for await (const piece of request) bytes += (piece as Buffer).length;
    json(response, 200, { bytes });
  },
  /** Rejects a body without reading it and keeps the connection open. */
  refuse(_request, response) {
    const body = '{"error":"too large"}';
    response
      .writeHead(413, { "content-type": "application/json", "content-length": body.length })
      .write(body);
  },
  /** Repeats the API key in every part of the response. */
  leak(request, response) {
    const key = String(request.headers.authorization ?? request.headers["x-api-key"] ?? "").replace(
      "Bearer ",
      "",
    );
    response.writeHead(Number(queryOf(request).get("status") ?? 200), {
      "content-type": queryOf(request).get("type") ?? "application/json",
      "x-echo": key,
    });
    response.end(
      queryOf(request).has("text")
        ? `your key is ${key}`
        : JSON.stringify({
            key,
            [key]: [{ deep: `a ${key} b` }],
            number: Number(key) || 1,
            quoted: JSON.stringify(key),
          }),
    );
  },
};

async function read(request: IncomingMessage, slow = false): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) {
    pieces.push(piece as Buffer);
    if (slow) await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(pieces);
}

/** Percent-encodes the characters of a URL that a header cannot contain. */
function ascii(url: string): string {
  return url.replace(/[^ -~]+/g, encodeURIComponent);
}

function queryOf(request: IncomingMessage): URLSearchParams {
  return new URL(request.url ?? "", "http://x").searchParams;
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
