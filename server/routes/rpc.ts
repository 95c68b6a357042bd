/**
 * Serves Connect, gRPC and gRPC-Web. The handlers of the Connect library select the protocol by the content type; this
 * file gives them requests and writes their responses.
 */
import { Code, type ConnectRouter, createConnectRouter, type HandlerContext } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { type Authenticator, isPublic } from "../auth/authenticator.ts";
import { setCaller } from "../auth/caller.ts";
import { fail, toPublicError } from "../errors.ts";
import { type Request, type Response, sendError } from "./answer.ts";
import { readInTime } from "./body-pace.ts";
import type { RouterOptions } from "./wire.ts";

/** A message of at most 2 MiB arrives within this time. */
const pace = { minBytesPerSecond: 1024, windowMs: 10_000, totalMs: 30_000 };

export interface RpcOptions {
  routes: (router: ConnectRouter) => void;
  router: RouterOptions;
  authenticator: Authenticator;
  report(error: unknown): void;
}

export interface RpcHandler {
  /** Whether the path belongs to a method. */
  has(path: string): boolean;
  handle(request: Request, response: Response, path: string): Promise<void>;
}

export function createRpcHandler({ routes, router, authenticator, report }: RpcOptions): RpcHandler {
  const connectRouter = createConnectRouter({
    ...router,
    acceptCompression: [compressionGzip, compressionBrotli],
    requestGate: (context) => gate(authenticator, context, report),
  });
  routes(connectRouter);
  const handlers = new Map<string, UniversalHandler>(
    connectRouter.handlers.map((handler) => [handler.requestPath, handler]),
  );
  return {
    has: (path) => handlers.has(path),
    async handle(request, response, path) {
      const handler = handlers.get(path);
      if (handler === undefined) return sendUnknownMethod(request, response, path);
      // The library needs an authority, which HTTP/1.0 does not require.
      request.headers.host ??= "localhost";
      const call = universalRequestFromNodeRequest(request, response, undefined, undefined);
      const result = await handler({ ...call, body: readInTime(request, pace) });
      await universalResponseToNodeResponse(await corrected(result), response).catch((error: unknown) => {
        // The client ended the call.
        if (!response.destroyed) report(error);
      });
    },
  };
}

/**
 * Runs before the body of a call is read, decompressed or decoded. Only authenticated callers may compress: a small body
 * of an anonymous one could otherwise cost as much as one of the full size.
 */
async function gate(
  authenticator: Authenticator,
  context: HandlerContext,
  report: (error: unknown) => void,
): Promise<void> {
  try {
    setCaller(
      context,
      await authenticator.authorize(context.method, context.requestHeader.get("authorization")),
    );
  } catch (error) {
    throw toPublicError(error, report);
  }
  if (isPublic(context.method) && compressionHeaders.some((name) => isCompressed(context, name))) {
    throw fail(Code.Unimplemented, "A call without an API key must not be compressed.");
  }
}

const compressionHeaders = ["content-encoding", "connect-content-encoding", "grpc-encoding"];

function isCompressed(context: HandlerContext, header: string): boolean {
  return (context.requestHeader.get(header) ?? "identity").toLowerCase() !== "identity";
}

/** gRPC clients read the status from headers only with HTTP status 200 (a response of trailers only). */
export function sendUnknownMethod(request: Request, response: Response, path: string): void {
  const type = request.headers["content-type"] ?? "";
  const message = `The method ${path.slice(1, 200)} does not exist.`;
  if (type.startsWith("application/grpc")) {
    response.writeHead(200, { "content-type": type, "grpc-status": "12", "grpc-message": message });
    response.end();
  } else {
    sendError(response, fail(Code.Unimplemented, message, { status: 404 }));
  }
}

/** The library reports a message that it cannot decode as `internal`, although the client sent it. */
const undecodable = "parse binary: ";

async function corrected(result: UniversalServerResponse): Promise<UniversalServerResponse> {
  const { status, body, trailer, header } = result;
  if (body === undefined || body === null) return result;
  if (trailer !== undefined) return { ...result, body: correctTrailer(body, trailer) };
  if (status !== 500 || header?.has("content-encoding") === true) return result;
  const bytes = Buffer.concat(await Array.fromAsync(body));
  const error = JSON.parse(bytes.toString()) as { code?: string; message?: string };
  if (error.message?.startsWith(undecodable) !== true) return { ...result, body: once(bytes) };
  const json = Buffer.from(JSON.stringify({ ...error, code: "invalid_argument" }));
  const headers = new Headers(header);
  headers.set("content-length", String(json.byteLength));
  return { status: 400, header: headers, body: once(json) };
}

/**
 * Corrects the trailers, which are complete when the body ends. The gRPC specification percent-encodes only `%` and
 * bytes outside of printable ASCII; the library encodes more, and @grpc/grpc-js does not decode all of it.
 */
async function* correctTrailer(
  body: AsyncIterable<Uint8Array>,
  trailer: Headers,
): AsyncGenerator<Uint8Array> {
  yield* body;
  const encoded = trailer.get("grpc-message");
  if (encoded === null) return;
  const message = decodeURIComponent(encoded);
  trailer.set(
    "grpc-message",
    message.replaceAll(/[^ -$&-~]+/g, (text) => encodeURIComponent(text)),
  );
  if (message.startsWith(undecodable)) trailer.set("grpc-status", String(Code.InvalidArgument));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
