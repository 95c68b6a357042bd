import {
  type HandshakeDefinition,
  handshakeKinds,
  impliedHandshake,
  type SignatureDefinition,
} from "../definition.ts";
import { readChoice, readName } from "./scalars.ts";
import type { View } from "./view.ts";

const kinds = [...handshakeKinds, "none"] as const;

/** Reads `handshake` of a webhook: a kind, or a map of the kind and its secret. Null when it is absent. */
export function readHandshake(
  view: View | null,
  signatureView: View | null,
  signature: SignatureDefinition | null,
): HandshakeDefinition | null {
  if (view === null) {
    const implied = signature === null ? null : impliedHandshake(signature.scheme);
    return implied === "meta" && signatureView !== null ? failWithoutToken(signatureView) : null;
  }
  const isMap = typeof view.value === "object" && view.value !== null;
  const fields = isMap ? view.fields(["kind", "secret"]) : null;
  if (isMap && fields === null) return null;
  const kindView = fields === null ? view : fields.require("kind");
  const kind = kindView === null ? null : readChoice(kindView, kinds);
  if (kind === null) return null;
  const secretView = fields?.get("secret") ?? null;
  if (kind === "meta" && secretView === null) return failWithoutToken(view);
  if (kind !== "meta" && secretView !== null) {
    return secretView.fail(`${secretView.path} is for the handshake meta, not ${kind}`);
  }
  const secret = secretView === null ? null : readName(secretView);
  return secretView !== null && secret === null ? null : { kind, secret };
}

function failWithoutToken(view: View): null {
  return view.fail(
    "the handshake of meta needs its verify token: write `handshake: { kind: meta, secret: <NAME> }` or `handshake: none`",
  );
}
