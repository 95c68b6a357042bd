/** Passes on what users' code has written to its log and to its trace, without values of secrets. */
import type { Executor } from "./executions/executor.ts";
import type { LogWriter } from "./executions/log-writer.ts";
import type { LogEntry, PoolEvents } from "./executions/pool/contract.ts";
import { redactMessage } from "./executions/redact-message.ts";
import type { Redactor } from "./secrets/redactor.ts";
import type { Redactors } from "./secrets/redactors.ts";
import type { DeploymentCache } from "./services/deployments/cache.ts";
import type { NewLog } from "./store/tables/logs.ts";

export function runnerLogs(
  executor: Executor,
  deployments: DeploymentCache,
  logs: LogWriter,
  redactors: Redactors,
): PoolEvents["log"] {
  return (deploymentId, entries) => {
    const deployment = deployments.held(deploymentId);
    const rows = entries.flatMap((entry): NewLog[] => {
      const execution = entry.executionId === null ? undefined : executor.running(entry.executionId);
      const orgId = execution?.org_id ?? deployment?.orgId;
      if (orgId === undefined) return [];
      const redactor = redactors.of(orgId);
      const row = {
        org_id: orgId,
        at: entry.atMs,
        level: entry.level,
        source: "console" as const,
        message: redactor === undefined ? entry.message : redactMessage(redactor, entry.message),
        fields: fieldsOf(entry, redactor),
        execution_id: entry.executionId,
        deployment_id: deploymentId,
        name: execution?.name ?? null,
        // A replay on a named deployment keeps its environment.
        environment: execution?.environment ?? deployment?.environment ?? null,
      };
      return [row];
    });
    logs.add(rows);
  };
}

function fieldsOf({ fields }: LogEntry, redactor: Redactor | undefined): string | null {
  if (fields === undefined) return null;
  return redactor?.redactJson(fields) ?? fields;
}

export function runnerSpans(executor: Executor, redactors: Redactors): NonNullable<PoolEvents["span"]> {
  return (executionId, span) => {
    const attempt = executor.spanOf(executionId);
    const execution = executor.running(executionId);
    if (attempt === undefined || execution === undefined) return;
    const redactor = redactors.of(execution.org_id);
    const shown = redactor === undefined ? span : JSON.parse(redactor.redactJson(JSON.stringify(span)));
    attempt.addRunnerSpan({ ...(shown as typeof span), spanId: span.spanId, parentId: span.parentId });
  };
}
