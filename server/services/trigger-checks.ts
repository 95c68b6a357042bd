/** Checks a call of TriggerWebhook as the URL of the webhook checks a request, before the payload is read. */
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import { senderOf } from "../auth/caller.ts";
import { fail } from "../errors.ts";
import type { Route } from "../webhooks/route-table.ts";
import { isAllowedSource } from "../webhooks/source.ts";
import type { App } from "./app.ts";

/** @throws ConnectError when only a request to the URL may trigger the webhook, 403 and 429 */
export function checkCall(app: App, context: HandlerContext, { orgId, definition, filter }: Route): void {
  const source = senderOf(context).address ?? undefined;
  app.limits.admit(orgId, source);
  if (!isAllowedSource(definition, source)) {
    throw fail("SENDER_NOT_ALLOWED", "This webhook does not accept requests from your address.");
  }
  const { methods, raw, signature } = definition;
  if (signature !== null) {
    throw fail(
      "SIGNATURE_REQUIRED",
      "This webhook is signed: only a POST to its URL, whose raw bytes can be checked, triggers it.",
    );
  }
  if (methods !== undefined && !methods.includes("POST")) throw onlyRequests("takes GET requests");
  if (raw === true) throw onlyRequests("takes the body of a request as it was sent");
  if (filter?.usesRequest === true) throw onlyRequests("filters by the headers or the query of a request");
}

function onlyRequests(what: string): ConnectError {
  return fail("WEBHOOK_REQUEST_REQUIRED", `This webhook ${what}: only a request to its URL triggers it.`);
}
