/**
 * `GET /metrics` on the port of the server. It needs the token of the operator (`SVC_METRICS_TOKEN`), or a key with scope
 * `full` while the server has one organization: the metrics are those of all organizations.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Authenticator } from "../auth/authenticator.ts";
import { fail } from "../errors.ts";
import { scopeAllows } from "../keys.ts";
import { contentType, type MetricsCollector } from "../metrics/collect.ts";
import type { Engine } from "../store/engine.ts";
import { countOrganizations } from "../store/tables/organizations.ts";
import { type Request, type Response, sendWhole } from "./answer.ts";

export const metricsPath = "/metrics";

export interface MetricsOptions {
  collector: MetricsCollector;
  token: string | null;
  /** Null in a process that serves no keys. */
  access: { authenticator: Authenticator; engine: Engine } | null;
}

/** @throws ConnectError `unauthenticated` or `permission_denied` */
export async function sendMetrics(
  { collector, token, access }: MetricsOptions,
  request: Request,
  response: Response,
): Promise<void> {
  const header = request.headers.authorization ?? null;
  if (!isToken(token, header)) await checkKey(access, header);
  const body = Buffer.from(await collector.text());
  const headers = { "content-type": contentType, "content-length": String(body.byteLength) };
  sendWhole(response, 200, headers, request.method === "HEAD" ? "" : body);
}

function isToken(token: string | null, header: string | null): boolean {
  if (token === null || header === null) return false;
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(`Bearer ${token}`), digest(header));
}

async function checkKey(access: MetricsOptions["access"], header: string | null): Promise<void> {
  if (access === null) throw fail("API_KEY_INVALID", "The metrics of this process need SVC_METRICS_TOKEN.");
  const caller = await access.authenticator.authenticate(header);
  if (!scopeAllows(caller.scope, "full")) {
    throw fail("SCOPE_MISSING", "Permission denied: this key needs scope full.", {
      metadata: { required_scope: "full", scope: caller.scope },
    });
  }
  if ((await access.engine.read(countOrganizations)) > 1) {
    throw fail(
      "SCOPE_MISSING",
      "Permission denied: the metrics of a server with several organizations need SVC_METRICS_TOKEN.",
      { metadata: { required_scope: "none", scope: caller.scope } },
    );
  }
}
