import type { IdempotencyDefinition, SignatureDefinition } from "../../definition.ts";
import { signsDeliveryId } from "../../webhook/schemes.ts";
import { readChoice, readHeaderName } from "../scalars.ts";
import type { View } from "../view.ts";

/** Reads `idempotency` of a webhook: a header, the behaviour after a failure, or both. */
export function readIdempotency(
  view: View | null,
  signature: SignatureDefinition | null,
): IdempotencyDefinition | null {
  const fields = view?.fields(["header", "after_failure"]) ?? null;
  if (view === null || fields === null) return null;
  const headerView = fields.get("header");
  const afterView = fields.get("after_failure");
  if (headerView === null && afterView === null) {
    return view.fail(`${view.path} must have a header, after_failure, or both`);
  }
  const header = headerView === null ? null : readHeaderName(headerView);
  const after = afterView === null ? "run" : readChoice(afterView, ["run", "replay"] as const);
  if ((headerView !== null && header === null) || after === null) return null;
  if (headerView !== null && signature !== null && signsDeliveryId(signature.scheme)) {
    return headerView.fail(
      `${headerView.path} has no effect with the scheme ${signature.scheme}, whose signature covers the delivery id: remove it`,
    );
  }
  return { header, ...(after === "replay" && { afterFailure: after }) };
}
