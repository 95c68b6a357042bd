/** The authenticated caller of a call, in the context values of the call. */
import {
  type ContextKey,
  type ContextValues,
  createContextKey,
  type HandlerContext,
} from "@connectrpc/connect";
import { fail } from "../errors.ts";

export interface Caller {
  orgId: string;
  keyId: string;
  keyName: string;
  scope: string;
}

const callerKey: ContextKey<Caller | null> = createContextKey<Caller | null>(null);

/** @throws ConnectError `unauthenticated` in a method that needs no key */
export function callerOf(context: HandlerContext): Caller {
  const caller = callerIn(context.values);
  if (caller === null) throw fail("API_KEY_MISSING", "This method needs an API key.");
  return caller;
}

/** Null in a method that needs no key. */
export function callerIn(values: ContextValues): Caller | null {
  return values.get(callerKey);
}

export function setCaller(context: HandlerContext, caller: Caller | null): void {
  context.values.set(callerKey, caller);
}
