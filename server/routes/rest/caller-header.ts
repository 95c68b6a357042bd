/** Passes the caller of a REST request to the router: the in-memory transport passes headers, and no context values. */
import type { HandlerContext } from "@connectrpc/connect";
import { type Caller, setCallerIn } from "../../auth/caller.ts";
import { withExactNumbers } from "../../services/request.ts";

export const callerHeader = "svc-caller";

/** The value of the header that carries the caller. */
export function encodeCaller(caller: Caller | null): string {
  return encodeURIComponent(JSON.stringify(caller));
}

/** The gate of the in-memory router, which is called only after the caller was authorized. */
export function acceptCaller(context: HandlerContext): void {
  const caller = context.requestHeader.get(callerHeader) ?? "null";
  setCallerIn(context.values, JSON.parse(decodeURIComponent(caller)) as Caller | null);
  withExactNumbers(context.values);
}
