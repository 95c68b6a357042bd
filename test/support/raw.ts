/** Raw HTTP/1.1, for requests that no client library sends. */
import { connect } from "node:net";
import type { Caller } from "./rest.ts";

export interface RawAnswer {
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Sends bytes and returns the responses received until the service closes the connection, or the first `count` of them.
 * A connection that is closed before all bytes are sent is not an error.
 */
export function exchange(caller: Caller, bytes: string | Uint8Array, count = 1): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(caller.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let received = Buffer.alloc(0);
    const finish = () => {
      const answers = parse(received);
      socket.destroy();
      if (answers.length > 0) resolve(answers);
      else reject(new Error(`The connection ended without an answer: ${received.toString("latin1")}`));
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (parse(received).length >= count) finish();
    });
    socket.on("error", finish);
    socket.on("close", finish);
  });
}

/** The request line and headers, with the empty line. */
export function head(line: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const all = { host: "localhost", ...headers };
  return [
    `${line} HTTP/1.1`,
    ...Object.entries(all).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n");
}

/** The complete responses at the start of the text. All responses of the service have a Content-Length. */
function parse(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let start = 0; ; ) {
    const end = received.indexOf("\r\n\r\n", start);
    if (end < 0) return answers;
    const [statusLine = "", ...fields] = received.toString("latin1", start, end).split("\r\n");
    const headers = new Headers();
    for (const field of fields) {
      const at = field.indexOf(":");
      headers.append(field.slice(0, at), field.slice(at + 1).trim());
    }
    const length = Number(headers.get("content-length") ?? 0);
    if (received.length < end + 4 + length) return answers;
    const body = received.toString("utf8", end + 4, end + 4 + length);
    answers.push({ status: Number(statusLine.split(" ")[1]), headers, body });
    start = end + 4 + length;
  }
}
