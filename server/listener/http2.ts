/** Loads `node:http2` with the first connection that needs it: on Node, it takes 10 MB of memory. */
import type * as Http2 from "node:http2";

export function loadHttp2(): typeof Http2 {
  return process.getBuiltinModule("node:http2");
}
