/** Writes the audit log: log entries with the source `audit`, in the transaction of the change. */
import type { Caller } from "../auth/caller.ts";
import type { Program } from "../store/engine.ts";
import { insertLogs } from "../store/tables/logs.ts";

export type AuditAction =
  | "deployment.pushed"
  | "deployment.promoted"
  | "deployment.rolled_back"
  | "deployment.deleted"
  | "schedule.paused"
  | "schedule.resumed"
  | "key.created"
  | "key.revoked"
  | "secret.set"
  | "secret.removed";

interface References {
  deploymentId?: string;
  name?: string;
  environment?: string;
}

/** Records an action. Call it in the same program as the change. */
export function* audit(
  caller: Pick<Caller, "orgId" | "keyId" | "keyName" | "sender">,
  action: AuditAction,
  object: string,
  references: References = {},
): Program<void> {
  const actor = `key '${caller.keyName}' (${caller.keyId})${origin(caller)}`;
  yield* insertEntry(caller.orgId, `${action}: ${object}, by ${actor}`, references);
}

/** Records an action of `svc admin`. */
export function* auditOperator(orgId: string, action: AuditAction, object: string): Program<void> {
  yield* insertEntry(orgId, `${action}: ${object}, by the operator`, {});
}

function* insertEntry(orgId: string, message: string, references: References): Program<void> {
  yield* insertLogs([
    {
      org_id: orgId,
      at: Date.now(),
      level: "info",
      source: "audit",
      message,
      execution_id: null,
      deployment_id: references.deploymentId ?? null,
      name: references.name ?? null,
      environment: references.environment ?? null,
    },
  ]);
}

function origin({ sender: { address } }: Pick<Caller, "sender">): string {
  return address === null ? "" : ` from ${address}`;
}
