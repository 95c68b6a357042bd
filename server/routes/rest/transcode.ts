/**
 * Transcodes REST requests: decodes a request that matches an HTTP rule into the request message of its method, calls
 * the method through the same interceptors as an RPC, and writes the response as JSON. A stream is written
 * as newline-delimited JSON.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { Caller } from "../../auth/caller.ts";
import { fail, toPublicError } from "../../errors.ts";
import type { Sender } from "../../senders/senders.ts";
import { traceHeader } from "../../services/request.ts";
import { type Request, type Response, sendError } from "../answer.ts";
import type { LocalCalls, StreamMethod, UnaryMethod } from "../internal/local-calls.ts";
import type { Report } from "../report.ts";
import { requestIdHeader, requestIdOf } from "../request-id.ts";
import { timeoutHeader, timeoutMs } from "./call.ts";
import type { Match } from "./http-rule.ts";
import { type BodyLimits, readMessage } from "./read-message.ts";
import { sendStream } from "./send-stream.ts";
import { sendUnary } from "./send-unary.ts";

/** Request headers that are passed to methods. */
const passedHeaders = [
  "idempotency-key",
  "prefer",
  "svc-environment",
  traceHeader,
  timeoutHeader,
  requestIdHeader,
  "traceparent",
];

/** The reason of the abort, one for all: the exception that the runtime creates without it took 6 % of the time of a call. */
let closed: ConnectError | undefined;

export type Transcoder = (
  request: Request,
  response: Response,
  match: Match,
  query: URLSearchParams,
) => Promise<void>;

export interface TranscoderOptions {
  calls: LocalCalls;
  authenticator: Pick<Authenticator, "authorize">;
  senderOf(request: Request): Sender;
  limits: BodyLimits;
  report: Report;
}

export function createTranscoder({
  calls,
  authenticator,
  senderOf,
  limits,
  report,
}: TranscoderOptions): Transcoder {
  return async (request, response, match, query) => {
    const reportError = (cause: unknown) => report(cause, requestIdOf(request));
    const abort = new AbortController();
    // Not created when this module loads: it has `Headers`, with which Node loads the whole of `fetch`.
    closed ??= new ConnectError("The response has closed.", Code.Canceled);
    response.on("close", () => abort.abort(closed));
    try {
      const { method } = match.rule;
      const sender = senderOf(request);
      const owner = await authenticator.authorize(method, request.headers.authorization ?? null);
      const caller: Caller | null = owner === null ? null : { ...owner, sender };
      const message = await readMessage(request, match, query, limits);
      const header = new Headers();
      for (const name of passedHeaders) {
        const value = request.headers[name];
        if (typeof value === "string") header.set(name, value);
      }
      const { signal } = abort;
      const call = { calls, message, caller, header, signal, timeoutMs: timeoutMs(header), response };
      if (method.methodKind === "unary") {
        await sendUnary({ ...call, method: method as UnaryMethod }, match.rule.responseBody);
      } else if (method.methodKind === "server_streaming") {
        await sendStream({ ...call, method: method as StreamMethod }, reportError);
      } else {
        throw fail("UNSUPPORTED", `${method.name} is not available over REST.`);
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      sendError(response, toPublicError(ConnectError.from(error), reportError));
    }
  };
}
