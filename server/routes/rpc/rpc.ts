/**
 * Serves Connect, gRPC and gRPC-Web. The handlers of the Connect library select the protocol by the content type; this
 * file gives them requests and writes their responses.
 */
import {
  type ConnectError,
  type ConnectRouter,
  createConnectRouter,
  type HandlerContext,
} from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { type Authenticator, checkScope, isPublic } from "../../auth/authenticator.ts";
import { callerIn, type KeyOwner, senderValues, setCallerIn, setKeyOwner } from "../../auth/caller.ts";
import { grpcDetails } from "../../errors/library.ts";
import { fail, toPublicError } from "../../errors.ts";
import type { Sender } from "../../senders/senders.ts";
import { withExactNumbers } from "../../services/request.ts";
import { type Request, type Response, sendError } from "../answer.ts";
import { readInTime } from "../body-pace.ts";
import { refuseMethod } from "../methods.ts";
import type { Report } from "../report.ts";
import { requestIdIn, requestIdOf, withRequestId } from "../request-id.ts";
import type { RouterOptions } from "../wire.ts";
import { corrected, percentEncode } from "./corrected.ts";
import { sendEarlyError } from "./early-error.ts";
import { messageBody, messagePace, unaryType } from "./message-body.ts";
import { sendStream } from "./stream-response.ts";
import { sendUnary } from "./unary-response.ts";
import { toUniversalRequest } from "./universal-request.ts";

export interface RpcOptions {
  routes: (router: ConnectRouter) => void;
  router: RouterOptions;
  /** The largest JSON message of a unary call of Connect. Default: the limit of all messages. */
  maxJsonBytes?: number;
  authenticator: Pick<Authenticator, "authorize">;
  senderOf(request: Request): Sender;
  report: Report;
  /** Corrects the responses of the library. Default: `corrected`. */
  correct?: typeof corrected;
}

export interface RpcHandler {
  /** Whether the path belongs to a method. */
  has(path: string): boolean;
  /** @param owner - of a key, authenticated already, by other means than an API key */
  handle(request: Request, response: Response, path: string, owner?: KeyOwner): Promise<void>;
}

export function createRpcHandler({
  routes,
  router,
  maxJsonBytes,
  authenticator,
  senderOf,
  report,
  correct = corrected,
}: RpcOptions): RpcHandler {
  const connectRouter = createConnectRouter({
    ...router,
    acceptCompression: [compressionGzip, compressionBrotli],
    requestGate: (context) => gate(authenticator, context, report),
  });
  routes(connectRouter);
  const maxBytes = router.readMaxBytes ?? 0xffff_ffff;
  const limitOf = { json: maxJsonBytes ?? maxBytes, proto: maxBytes };
  const handlers = new Map<string, UniversalHandler>(
    connectRouter.handlers.map((handler) => [handler.requestPath, handler]),
  );
  return {
    has: (path) => handlers.has(path),
    async handle(request, response, path, owner) {
      const handler = handlers.get(path);
      if (handler === undefined) return sendUnknownMethod(request, response, path);
      const verb = request.method === "HEAD" ? "GET" : (request.method ?? "");
      if (!handler.allowedMethods.includes(verb))
        return refuseMethod(request, response, handler.allowedMethods);
      // The library needs an authority, which HTTP/1.0 does not require.
      request.headers.host ??= "localhost";
      const type = unaryType(request);
      const body =
        type === null
          ? readInTime(request, messagePace)
          : messageBody(request, limitOf[type], type === "json");
      const call = toUniversalRequest(request, response, verb, body);
      const sender = senderOf(request);
      call.contextValues = senderValues(sender);
      if (type === "json") withExactNumbers(call.contextValues);
      if (owner !== undefined) setCallerIn(call.contextValues, { ...owner, sender });
      const result = await handler(call);
      if (result.status === 415) return sendCallError(request, response, contentTypeError(request, handler));
      if (verb === "GET") result.header = withoutCache(result.header);
      const answer = await correct(result);
      if (handler.method.methodKind === "unary" && answer.trailer === undefined)
        return sendUnary(response, answer);
      const rest = await sendEarlyError(request, response, answer);
      if (rest === null) return;
      await sendStream(response, rest).catch((error: unknown) => {
        // The client ended the call. Deno does not destroy its response.
        if (!response.destroyed && !call.signal.aborted) report(error, requestIdOf(request));
      });
    },
  };
}

function contentTypeError({ headers }: Request, { method }: UniversalHandler): ConnectError {
  const found = headers["content-type"] ?? "";
  const accepted =
    method.methodKind === "unary" ? "application/json, application/proto" : "application/connect+json";
  return fail(
    "UNSUPPORTED_MEDIA_TYPE",
    `Cannot read the content type '${found.slice(0, 80)}': it must be ${accepted}, or a type of gRPC or gRPC-Web.`,
  );
}

/** A GET has a response for one caller, which a cache between the client and this server must not give to others. */
function withoutCache(header: HeadersInit | undefined): Headers {
  const headers = new Headers(header);
  headers.set("cache-control", "no-store");
  return headers;
}

/**
 * Runs before the body of a call is read, decompressed or decoded. Only authenticated callers may compress: a small body
 * of an anonymous one could otherwise cost as much as one of the full size.
 */
async function gate(
  authenticator: Pick<Authenticator, "authorize">,
  context: HandlerContext,
  report: Report,
): Promise<void> {
  try {
    const known = callerIn(context.values);
    if (known !== null) checkScope(context.method, known);
    else {
      const header = context.requestHeader.get("authorization");
      setKeyOwner(context, await authenticator.authorize(context.method, header));
    }
  } catch (error) {
    const id = requestIdIn(context.requestHeader);
    throw withRequestId(
      toPublicError(error, (cause) => report(cause, id)),
      id,
    );
  }
  if (isPublic(context.method) && compressionHeaders.some((name) => isCompressed(context, name))) {
    throw fail("COMPRESSION_NOT_ALLOWED", "A call without an API key must not be compressed.");
  }
}

const compressionHeaders = ["content-encoding", "connect-content-encoding", "grpc-encoding"];

function isCompressed(context: HandlerContext, header: string): boolean {
  return (context.requestHeader.get(header) ?? "identity").toLowerCase() !== "identity";
}

export function sendUnknownMethod(request: Request, response: Response, path: string): void {
  sendCallError(
    request,
    response,
    fail("METHOD_UNKNOWN", `The method ${path.slice(1, 200)} does not exist.`),
  );
}

/** gRPC clients read the status from headers only with HTTP status 200 (a response of trailers only). */
function sendCallError(request: Request, response: Response, error: ConnectError): void {
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("application/grpc")) {
    sendError(response, error);
    return;
  }
  // In one frame that ends the stream: grpcio reads the status from no other headers.
  response.statusCode = 200;
  const headers = {
    "content-type": type.startsWith("application/grpc-web")
      ? "application/grpc-web+proto"
      : "application/grpc+proto",
    "grpc-status": String(error.code),
    "grpc-message": percentEncode(error.rawMessage),
    "grpc-status-details-bin": grpcDetails(error),
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end();
}
