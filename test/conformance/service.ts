/** Implements the service of connectrpc/conformance; its contract describes the behaviour. */
import { setTimeout } from "node:timers/promises";
import { create, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { type Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  type BidiStreamRequest,
  BidiStreamRequestSchema,
  type ClientStreamRequest,
  ClientStreamRequestSchema,
  type ConformanceService,
  type Error as ErrorDefinition,
  type Header,
  IdempotentUnaryRequestSchema,
  type ConformancePayload_RequestInfo as RequestInfo,
  ConformancePayload_RequestInfoSchema as RequestInfoSchema,
  ServerStreamRequestSchema,
  type StreamResponseDefinition,
  UnaryRequestSchema,
  type UnaryResponseDefinition,
} from "./generated/connectrpc/conformance/v1/service_pb.ts";

// `Unimplemented` is left out on purpose.
export const conformance: Partial<ServiceImpl<typeof ConformanceService>> = {
  async unary(request, context) {
    return single(
      request.responseDefinition,
      infoOf(context, [anyPack(UnaryRequestSchema, request)]),
      context,
    );
  },
  async idempotentUnary(request, context) {
    const requests = [anyPack(IdempotentUnaryRequestSchema, request)];
    return single(request.responseDefinition, infoOf(context, requests), context);
  },
  async clientStream(requests, context) {
    const received: ClientStreamRequest[] = await Array.fromAsync(requests);
    const info = infoOf(context, packAll(ClientStreamRequestSchema, received));
    return single(received[0]?.responseDefinition, info, context);
  },
  async *serverStream(request, context) {
    const info = infoOf(context, [anyPack(ServerStreamRequestSchema, request)]);
    yield* several(request.responseDefinition, info, context);
  },
  async *bidiStream(requests, context) {
    const iterator = requests[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done === true) return;
    if (first.value.fullDuplex) return yield* alternating(first.value, iterator, context);
    const received = [first.value, ...(await Array.fromAsync({ [Symbol.asyncIterator]: () => iterator }))];
    const info = infoOf(context, packAll(BidiStreamRequestSchema, received));
    yield* several(first.value.responseDefinition, info, context);
  },
};

async function single(
  definition: UnaryResponseDefinition | undefined,
  requestInfo: RequestInfo,
  context: HandlerContext,
) {
  setHeaders(context, definition);
  await setTimeout(definition?.responseDelayMs ?? 0, undefined, { signal: context.signal });
  if (definition?.response.case === "error") throw errorOf(definition.response.value, requestInfo);
  const data = definition?.response.case === "responseData" ? definition.response.value : new Uint8Array();
  return { payload: { data, requestInfo } };
}

async function* several(
  definition: StreamResponseDefinition | undefined,
  requestInfo: RequestInfo,
  context: HandlerContext,
) {
  setHeaders(context, definition);
  let sent = 0;
  for (const data of definition?.responseData ?? []) {
    await setTimeout(definition?.responseDelayMs ?? 0, undefined, { signal: context.signal });
    yield { payload: sent++ === 0 ? { data, requestInfo } : { data } };
  }
  if (definition?.error !== undefined) throw errorOf(definition.error, sent === 0 ? requestInfo : undefined);
}

async function* alternating(
  first: BidiStreamRequest,
  rest: AsyncIterator<BidiStreamRequest>,
  context: HandlerContext,
) {
  const definition = first.responseDefinition;
  setHeaders(context, definition);
  const data = definition?.responseData ?? [];
  let sent = 0;
  let item: IteratorResult<BidiStreamRequest> = { value: first, done: false };
  for (; item.done !== true && sent < data.length; sent++) {
    const requests = [anyPack(BidiStreamRequestSchema, item.value)];
    const requestInfo = sent === 0 ? infoOf(context, requests) : create(RequestInfoSchema, { requests });
    await setTimeout(definition?.responseDelayMs ?? 0, undefined, { signal: context.signal });
    yield { payload: { data: data[sent] ?? new Uint8Array(), requestInfo } };
    item = await rest.next();
  }
  // The client has sent all of its requests, and some responses may be left.
  for (; item.done === true && sent < data.length; sent++) {
    await setTimeout(definition?.responseDelayMs ?? 0, undefined, { signal: context.signal });
    yield { payload: { data: data[sent] ?? new Uint8Array() } };
  }
  if (definition?.error === undefined) return;
  const requests = item.done === true ? [] : [anyPack(BidiStreamRequestSchema, item.value)];
  throw errorOf(definition.error, sent === 0 ? infoOf(context, requests) : undefined);
}

function setHeaders(
  { responseHeader, responseTrailer }: HandlerContext,
  definition: { responseHeaders: Header[]; responseTrailers: Header[] } | undefined,
): void {
  for (const [target, headers] of [
    [responseHeader, definition?.responseHeaders],
    [responseTrailer, definition?.responseTrailers],
  ] as const) {
    for (const { name, value } of headers ?? []) for (const one of value) target.append(name, one);
  }
}

function infoOf(context: HandlerContext, requests: Any[]): RequestInfo {
  const timeoutMs = context.timeoutMs();
  const queryParams = [...new URL(context.url).searchParams].map(([name, value]) => ({
    name,
    value: [value],
  }));
  return create(RequestInfoSchema, {
    requestHeaders: [...context.requestHeader].map(([name, value]) => ({ name, value: [value] })),
    requests,
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(timeoutMs) }),
    ...(context.requestMethod === "GET" ? { connectGetInfo: { queryParams } } : {}),
  });
}

function errorOf(
  { code, message, details }: ErrorDefinition,
  requestInfo: RequestInfo | undefined,
): ConnectError {
  const error = new ConnectError(message ?? "", code as number as Code);
  error.details = details.map(({ typeUrl, value }) => ({
    type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1),
    value,
  }));
  if (requestInfo !== undefined) {
    error.details.push({ type: RequestInfoSchema.typeName, value: toBinary(RequestInfoSchema, requestInfo) });
  }
  return error;
}

function packAll<Desc extends DescMessage>(schema: Desc, messages: readonly Message[]): Any[] {
  return messages.map((message) => anyPack(schema, message as never));
}
