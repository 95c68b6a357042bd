import type { SignatureDefinition, WebhookMethod } from "../../definition.ts";
import { schemesWithoutBody } from "../../webhook/schemes.ts";
import { readChoice } from "../scalars.ts";
import type { View } from "../view.ts";

/** Reads `methods` of a webhook. Null for the default, POST alone, and after a problem. */
export function readMethods(
  view: View | null,
  signature: SignatureDefinition | null,
): WebhookMethod[] | null {
  if (view === null) return null;
  const methods = new Set<WebhookMethod>();
  const items = view.items();
  if (items === null) return null;
  for (const item of items) {
    const method = readChoice(item, ["GET", "POST"] as const);
    if (method === null) return null;
    if (methods.has(method)) return item.fail(`${view.path} lists ${method} twice`);
    methods.add(method);
  }
  if (methods.size === 0) return view.fail(`${view.path} must list GET, POST or both`);
  if (methods.has("GET") && signature !== null && !schemesWithoutBody.includes(signature.scheme)) {
    return view.fail(
      `${view.path} may include GET only without a signature or with the schemes ${schemesWithoutBody.join(", ")}: ${signature.scheme} signs the body, which GET requests do not have`,
    );
  }
  return methods.has("GET") ? [...methods] : null;
}
