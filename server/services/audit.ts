/** The audit trail: who changed what, as log lines of a source of their own, written with the change itself. */
import type { Caller } from "../auth.ts";
import type { Program } from "../store/engine.ts";
import { insertLogs } from "../store/logs.ts";

export type AuditAction =
  | "deployment.pushed"
  | "deployment.rolled_back"
  | "deployment.deleted"
  | "schedule.paused"
  | "schedule.resumed"
  | "key.created"
  | "key.revoked"
  | "secret.set"
  | "secret.removed";

/** Records an action in the program that does it. */
export function* audit(
  caller: Pick<Caller, "orgId" | "keyId" | "keyName">,
  action: AuditAction,
  what: string,
  about: { deploymentId?: string; name?: string; environment?: string } = {},
): Program<void> {
  yield* insertLogs([
    {
      org_id: caller.orgId,
      at: Date.now(),
      level: "info",
      source: "audit",
      message: `${action}: ${what}, by key '${caller.keyName}' (${caller.keyId})`,
      execution_id: null,
      deployment_id: about.deploymentId ?? null,
      name: about.name ?? null,
      environment: about.environment ?? null,
    },
  ]);
}
