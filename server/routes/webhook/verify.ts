/** Verifies the signature of a webhook request, and keeps the payload of a refused one where the webhook asks for it. */
import type { SignatureDefinition } from "../../../project/definition.ts";
import { fail } from "../../errors.ts";
import type { App } from "../../services/app.ts";
import type { Rejection } from "../../webhooks/rejection-log.ts";
import type { Route } from "../../webhooks/route-table.ts";
import { ruleMessages, type Verification, verifySignature } from "../../webhooks/signatures/index.ts";
import type { Request } from "../answer.ts";
import { originForm } from "../origin-form.ts";
import { readUnverified } from "./content.ts";
import { secretsOf } from "./handshake.ts";

/** The largest body, and the largest payload as JSON, that `keep_rejected` keeps. */
export const maxKeptBytes: number = 256 * 1024;

/** @throws ConnectError 401, and 503 when the sender's certificate is unavailable */
export async function verify(
  app: App,
  request: Request,
  route: Route,
  rejection: Rejection,
  body: Uint8Array,
): Promise<void> {
  const { signature, keepRejected } = route.definition;
  if (signature === null) return;
  const result = await verification(app, request, route, signature, body);
  if (result.ok) return;
  rejection.reason = result.reason;
  if (result.rule === "unavailable") throw fail("UNAVAILABLE", ruleMessages.unavailable);
  if (keepRejected === true) keepPayload(app, request, route, rejection, body);
  const headers: Record<string, string> =
    signature.scheme === "basic" ? { "www-authenticate": 'Basic realm="webhook"' } : {};
  throw fail("SIGNATURE_INVALID", ruleMessages[result.rule], { metadata: { rule: result.rule }, headers });
}

async function verification(
  app: App,
  request: Request,
  route: Route,
  signature: SignatureDefinition,
  body: Uint8Array,
): Promise<Verification> {
  const nowSeconds = Date.now() / 1000;
  if (signature.scheme === "sns") return app.sns.verify(route.orgId, signature, body, nowSeconds);
  const secrets = await secretsOf(app, route, signature.secrets);
  const url = `${app.baseUrl()}${originForm(request.url ?? "/")}`;
  return verifySignature(signature, secrets, request.headers, body, nowSeconds, url);
}

function keepPayload(app: App, request: Request, route: Route, rejection: Rejection, body: Uint8Array): void {
  const text =
    body.byteLength > maxKeptBytes ? null : readUnverified(request, route, body, app.config.limits.jsonDepth);
  if (text !== null && Buffer.byteLength(text) <= maxKeptBytes) rejection.payload = text;
  else
    rejection.reason += ` Its payload was not kept: it must be readable and have at most ${maxKeptBytes} bytes.`;
}
