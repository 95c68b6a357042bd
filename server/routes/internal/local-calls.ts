/**
 * Calls methods of the services in this process, through the same interceptors as an RPC. The in-memory transport of the
 * Connect library encodes each message and decodes it again, which took half of the time of a REST call.
 */
import { create, type DescMessage, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ConnectRouter,
  createContextValues,
  createHandlerContext,
  type HandlerContext,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { type Caller, setCallerIn } from "../../auth/caller.ts";
import { withExactNumbers } from "../../services/request.ts";

export type UnaryMethod = DescMethod & { methodKind: "unary" };
export type StreamMethod = DescMethod & { methodKind: "server_streaming" };

export interface LocalCall<Method> {
  method: Method;
  /** Its numbers are exact. */
  message: MessageInitShape<DescMessage>;
  /** Authorized for the method. Null in a method that needs no key. */
  caller: Caller | null;
  header: Headers;
  /** Aborts when the response has closed. */
  signal: AbortSignal;
  timeoutMs?: number | undefined;
}

export interface LocalCalls {
  unary(call: LocalCall<UnaryMethod>): Promise<UnaryResponse>;
  stream(call: LocalCall<StreamMethod>): Promise<StreamResponse>;
}

/** Registers the implementations of services. */
export type Routes = (router: Pick<ConnectRouter, "service">) => void;

type Implementation = (message: unknown, context: HandlerContext) => unknown;
type Next = ReturnType<Interceptor>;

export function createLocalCalls(routes: Routes, interceptors: readonly Interceptor[]): LocalCalls {
  const implementations = new Map<DescMethod, Implementation>();
  const service: ConnectRouter["service"] = (desc, methods) => {
    for (const method of desc.methods) {
      const implementation = (methods as Readonly<Record<string, Implementation>>)[method.localName];
      if (implementation !== undefined) implementations.set(method, implementation);
    }
    return undefined as never;
  };
  routes({ service });

  /** The function that the interceptors wrap. */
  const invoke =
    (method: DescMethod, context: HandlerContext): Next =>
    async (request) => {
      const implementation = implementations.get(method);
      if (implementation === undefined) throw new Error(`The method ${method.name} has no implementation.`);
      const { service, responseHeader: header, responseTrailer: trailer } = context;
      const message = implementation(
        request.stream ? await firstOf(request.message) : request.message,
        context,
      );
      const response = request.stream
        ? { stream: true, message }
        : { stream: false, message: create(method.output, (await message) as MessageInitShape<DescMessage>) };
      return { ...response, method, service, header, trailer } as UnaryResponse | StreamResponse;
    };

  async function start(call: LocalCall<DescMethod>): Promise<UnaryResponse | StreamResponse> {
    const { method, header, signal, timeoutMs } = call;
    const values = withExactNumbers(createContextValues());
    setCallerIn(values, call.caller);
    const context = createHandlerContext({
      ...{ method, service: method.parent, protocolName: "local", requestMethod: "POST" },
      ...{ url: `/${method.parent.typeName}/${method.name}`, requestHeader: header, requestSignal: signal },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      contextValues: values,
    });
    if (timeoutMs !== undefined) {
      // Stops the timer of the deadline.
      signal.addEventListener("abort", () => context.abort(signal.reason), { once: true });
    }
    const message = create(method.input, call.message);
    const isStream = method.methodKind !== "unary";
    const request = {
      ...{ method, service: method.parent, requestMethod: "POST", url: context.url, header },
      ...{ signal: context.signal, contextValues: values },
      ...(isStream ? { stream: true, message: only(message) } : { stream: false, message }),
    } as UnaryRequest | StreamRequest;
    const next = interceptors.reduceRight((inner, intercept) => intercept(inner), invoke(method, context));
    return next(request);
  }

  return {
    unary: (call) => start(call) as Promise<UnaryResponse>,
    stream: (call) => start(call) as Promise<StreamResponse>,
  };
}

async function* only<T>(message: T): AsyncGenerator<T> {
  yield message;
}

async function firstOf<T>(messages: AsyncIterable<T>): Promise<T> {
  for await (const message of messages) return message;
  throw new Error("The call has no message.");
}
