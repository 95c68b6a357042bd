/** The environment of requests, and whether their numbers are exact. */
import {
  type ContextKey,
  type ContextValues,
  createContextKey,
  type HandlerContext,
} from "@connectrpc/connect";
import type { App } from "./app.ts";

/** Set by the dispatcher from the prefix `/env/<environment>`; never accepted from a client. */
export const environmentHeader = "svc-environment";

/** Set by the dispatcher when requests are traced; ignored otherwise. */
export const traceHeader = "svc-trace";

/** The context of the request for the execution that it starts; null without tracing. */
export function traceOf(app: Pick<App, "tracer">, context: HandlerContext): string | null {
  return app.tracer === null ? null : context.requestHeader.get(traceHeader);
}

export const defaultEnvironment = "production";

/** The environment of a request: the one that it names, else that of its base URL, else `production`. */
export function environmentOf(named: string, context: HandlerContext): string {
  return environmentFilter(named, context) || defaultEnvironment;
}

/** Like `environmentOf`, for lists: empty, which selects all environments, without a prefix in the base URL. */
export function environmentFilter(named: string, context: HandlerContext): string {
  return named || (context.requestHeader.get(environmentHeader) ?? "");
}

const exactNumbers: ContextKey<boolean> = createContextKey(false);

/** Notes that the message was JSON, and that its text has no integer that a double rounds. */
export function withExactNumbers(values: ContextValues): ContextValues {
  return values.set(exactNumbers, true);
}

/** False for Protobuf, whose numbers are doubles: a large one may have been rounded by the client. */
export function hasExactNumbers({ values }: HandlerContext): boolean {
  return values.get(exactNumbers);
}
