/**
 * The cases of h2spec that fail, with their causes. h2spec tests RFC 7540, and RFC 9113 replaced it. All but the first
 * failure are those of a server of `node:http2` without the listener of this package.
 */
import type { Runtime } from "../support/runtimes.ts";

export interface KnownFailure {
  /** Section and title, as h2spec reports them. */
  test: string;
  runtimes: readonly Runtime[];
  cause: string;
}

const nghttp2: readonly Runtime[] = ["node", "deno"];
const all: readonly Runtime[] = ["node", "bun", "deno"];
const closedStream =
  "RFC 9113, section 5.1, lets a server ignore frames on a closed stream. RFC 7540 required an error.";
const priority = "RFC 9113, section 5.3.2, deprecates priorities, and the runtime ignores their content.";

export const knownFailures: readonly KnownFailure[] = [
  {
    test: "http2/3.5 Sends invalid connection preface",
    runtimes: all,
    cause:
      "The port serves HTTP/1.1 too. Bytes that are not the preface are an HTTP/1.1 request, which gets 400 and not a GOAWAY frame.",
  },
  {
    test: "http2/5.1 idle: Sends a WINDOW_UPDATE frame",
    runtimes: ["bun"],
    cause:
      "Bun ignores WINDOW_UPDATE frames on idle streams, which RFC 9113 calls an error of the connection.",
  },
  {
    test: "http2/5.1 closed: Sends a DATA frame after sending RST_STREAM frame",
    runtimes: all,
    cause: closedStream,
  },
  {
    test: "http2/5.1 closed: Sends a HEADERS frame after sending RST_STREAM frame",
    runtimes: nghttp2,
    cause: closedStream,
  },
  { test: "http2/5.1 closed: Sends a DATA frame", runtimes: all, cause: closedStream },
  {
    test: "http2/5.1 closed: Sends a HEADERS frame",
    runtimes: all,
    cause: `${closedStream} Bun handles the frame as a new request.`,
  },
  {
    test: "http2/5.1.1 Sends stream identifier that is numerically smaller than previous",
    runtimes: all,
    cause: "Node and Deno ignore the smaller identifier as one of a closed stream. Bun serves the request.",
  },
  { test: "http2/5.3.1 Sends HEADERS frame that depends on itself", runtimes: ["bun"], cause: priority },
  { test: "http2/5.3.1 Sends PRIORITY frame that depend on itself", runtimes: all, cause: priority },
  { test: "http2/6.3 Sends a PRIORITY frame with 0x0 stream identifier", runtimes: nghttp2, cause: priority },
  {
    test: "http2/6.7 Sends a PING frame with ACK",
    runtimes: ["node", "bun"],
    cause:
      "Node and Bun close the connection at an ACK without a PING, against abuse. h2spec expects that they ignore it.",
  },
  {
    test: "http2/6.9.1 Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream",
    runtimes: nghttp2,
    cause: "Node and Deno close the connection, and not only the stream, whose window overflows.",
  },
  {
    test: "http2/6.9.2 Sends a SETTINGS frame for window size to be negative",
    runtimes: ["bun"],
    cause:
      "Bun sends 2 bytes in a window of 1, because it does not make a window negative when SETTINGS reduce it.",
  },
];
