/** The authenticated caller of a call, in the context values of the call. */
import {
  type ContextKey,
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import { fail } from "../errors.ts";
import type { Sender } from "../senders/senders.ts";

export interface Caller {
  orgId: string;
  keyId: string;
  keyName: string;
  scope: string;
  /** Unix milliseconds; null if the key does not expire. */
  keyExpiresAtMs: number | null;
  sender: Sender;
}

/** The owner of an API key. */
export type KeyOwner = Omit<Caller, "sender">;

const senderKey: ContextKey<Sender> = createContextKey<Sender>({ address: null, isProxyIgnored: false });
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

/** Where a call comes from, also in a method that needs no key. */
export function senderOf({ values }: HandlerContext): Sender {
  return callerIn(values)?.sender ?? values.get(senderKey);
}

/** The context values of a call before its caller is known. */
export function senderValues(sender: Sender): ContextValues {
  return createContextValues().set(senderKey, sender);
}

/** Completes the owner of the key with the sender of the call. */
export function setKeyOwner(context: HandlerContext, owner: KeyOwner | null): void {
  const { values } = context;
  setCallerIn(values, owner === null ? null : { ...owner, sender: values.get(senderKey) });
}

export function setCallerIn(values: ContextValues, caller: Caller | null): void {
  values.set(callerKey, caller);
}
