/**
 * Transcodes REST requests: decodes a request that matches an HTTP rule into the request message of its method, calls
 * the method through the same router and interceptors as an RPC, and writes the response as JSON. A stream is written
 * as newline-delimited JSON.
 */
import { ConnectError, type Transport } from "@connectrpc/connect";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { Caller } from "../../auth/caller.ts";
import { fail, toPublicError } from "../../errors.ts";
import type { Sender } from "../../senders/senders.ts";
import { traceHeader } from "../../services/request.ts";
import { type Request, type Response, sendError } from "../answer.ts";
import type { Report } from "../report.ts";
import { requestIdHeader, requestIdOf } from "../request-id.ts";
import { type Call, timeoutHeader } from "./call.ts";
import { callerHeader, encodeCaller } from "./caller-header.ts";
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

export type Transcoder = (
  request: Request,
  response: Response,
  match: Match,
  query: URLSearchParams,
) => Promise<void>;

export interface TranscoderOptions {
  transport: Transport;
  authenticator: Pick<Authenticator, "authorize">;
  senderOf(request: Request): Sender;
  limits: BodyLimits;
  report: Report;
}

export function createTranscoder({
  transport,
  authenticator,
  senderOf,
  limits,
  report,
}: TranscoderOptions): Transcoder {
  return async (request, response, match, query) => {
    const reportError = (cause: unknown) => report(cause, requestIdOf(request));
    const abort = new AbortController();
    response.on("close", () => abort.abort());
    try {
      const { method } = match.rule;
      const sender = senderOf(request);
      const owner = await authenticator.authorize(method, request.headers.authorization ?? null);
      const caller: Caller | null = owner === null ? null : { ...owner, sender };
      const message = await readMessage(request, match, query, limits);
      const header = new Headers({ [callerHeader]: encodeCaller(caller) });
      for (const name of passedHeaders) {
        const value = request.headers[name];
        if (typeof value === "string") header.set(name, value);
      }
      const call = { transport, message, header, signal: abort.signal, response };
      if (method.methodKind === "unary") {
        await sendUnary({ ...call, method: method as Call<"unary">["method"] }, match.rule.responseBody);
      } else if (method.methodKind === "server_streaming") {
        await sendStream({ ...call, method: method as Call<"server_streaming">["method"] }, reportError);
      } else {
        throw fail("UNSUPPORTED", `${method.name} is not available over REST.`);
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      sendError(response, toPublicError(ConnectError.from(error), reportError));
    }
  };
}
