/** Converts rows of the store to messages of the contract. */
import { create, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { TraceEntry } from "../../project/mapping.ts";
import {
  type DeployedTarget,
  DeployedTargetSchema,
  type Deployment,
  DeploymentSchema,
} from "../../proto/svc/v1/deployment_pb.ts";
import {
  AttemptSchema,
  type Execution,
  ExecutionErrorSchema,
  ExecutionSchema,
  type LogLine,
  LogLineSchema,
  MappingStepSchema,
} from "../../proto/svc/v1/execution_pb.ts";
import type { StoredError } from "../executions/states.ts";
import type { DeploymentRow } from "../store/deployments.ts";
import type { AttemptRow, ExecutionRow } from "../store/executions.ts";
import { parseStored } from "../store/json.ts";
import type { LogRow } from "../store/logs.ts";

export function optionalTime(ms: number | null | undefined): Timestamp | undefined {
  return ms === null || ms === undefined ? undefined : timestampFromMs(ms);
}

/** The base URL of an environment. */
function environmentUrl(baseUrl: string, environment: string): string {
  return environment === "production" ? baseUrl : `${baseUrl}/env/${environment}`;
}

export function webhookUrl(
  baseUrl: string,
  webhook: { orgId: string; environment: string; kind: string; name: string; slug: string },
): string {
  const { orgId, environment, kind, name, slug } = webhook;
  return `${environmentUrl(baseUrl, environment)}/webhook/${orgId}/${kind}/${name}/${slug}`;
}

/** Converts a field mapping; its keys and values are validated names and paths. */
export function mappingMap(mapping: { path: string; parameter: string }[]): Record<string, string> {
  return Object.fromEntries(mapping.map(({ path, parameter }) => [path, parameter]));
}

export function toDeployment(row: DeploymentRow, baseUrl: string): Deployment {
  const definition = parseStored<ProjectDefinition>(row.definition);
  const targets = [...definition.agents, ...definition.workflows];
  return create(DeploymentSchema, {
    deploymentId: row.deployment_id,
    project: row.project,
    version: row.version,
    environment: row.environment,
    status: row.status,
    digest: row.digest,
    sizeBytes: row.size_bytes,
    fileCount: row.file_count,
    agents: definition.agents.map(toTarget),
    workflows: definition.workflows.map(toTarget),
    webhooks: targets.flatMap((target) =>
      target.webhooks.map((webhook) => ({
        kind: target.kind,
        name: target.name,
        slug: webhook.slug,
        url: webhookUrl(baseUrl, {
          orgId: row.org_id,
          environment: row.environment,
          kind: target.kind,
          name: target.name,
          slug: webhook.slug,
        }),
        fieldMapping: mappingMap(webhook.fieldMapping),
        signatureScheme: webhook.signature?.scheme ?? "",
      })),
    ),
    schedules: definition.schedules.map(({ kind, name, cron, timezone, enabled }) => ({
      kind,
      name,
      cron,
      timezone,
      enabled,
    })),
    createdBy: { keyId: row.created_by, name: row.created_by_name },
    createdAt: timestampFromMs(row.created_at),
    activatedAt: optionalTime(row.activated_at),
    error: row.error,
    sourceDeploymentId: row.source_deployment_id ?? "",
  });
}

function toTarget(target: TargetDefinition): DeployedTarget {
  return create(DeployedTargetSchema, {
    name: target.name,
    displayName: target.displayName,
    timeout: target.timeoutSeconds,
    maxRetries: target.retry?.maxRetries ?? 0,
  });
}

export function toExecution(row: ExecutionRow): Execution {
  return create(ExecutionSchema, {
    executionId: row.execution_id,
    status: row.status,
    kind: row.kind,
    name: row.name,
    trigger: row.origin,
    deploymentId: row.deployment_id,
    environment: row.environment,
    input: parseStored<JsonObject>(row.input),
    output: row.output === null ? undefined : fromJson(ValueSchema, parseStored<JsonValue>(row.output)),
    error: row.error === null ? undefined : create(ExecutionErrorSchema, parseStored<StoredError>(row.error)),
    unmapped: parseStored<string[]>(row.unmapped),
    attempt: row.attempt,
    parentExecutionId: row.parent_execution_id ?? "",
    createdAt: timestampFromMs(row.created_at),
    startedAt: optionalTime(row.started_at),
    finishedAt: optionalTime(row.finished_at),
    dueAt: optionalTime(row.status === "queued" && row.due_at > row.created_at ? row.due_at : null),
    replayOf: row.replay_of ?? "",
  });
}

/** Adds the fields that only `GetExecution` returns. */
export function detailed(row: ExecutionRow, attempts: readonly AttemptRow[]): Execution {
  const message = toExecution(row);
  const trace = row.mapping === null ? [] : parseStored<TraceEntry[]>(row.mapping);
  message.mapping = trace.map(({ type, stoppedAt, because, ...entry }) =>
    create(MappingStepSchema, {
      ...entry,
      type: type ?? "",
      stoppedAt: stoppedAt ?? "",
      because: because ?? "",
    }),
  );
  message.attempts = attempts.map((attempt) =>
    create(AttemptSchema, {
      attempt: attempt.attempt,
      startedAt: optionalTime(attempt.started_at),
      finishedAt: timestampFromMs(attempt.finished_at),
      error: create(ExecutionErrorSchema, parseStored<StoredError>(attempt.error)),
      retryAt: optionalTime(attempt.retry_at),
    }),
  );
  return message;
}

export function toLogLine(row: LogRow): LogLine {
  return create(LogLineSchema, {
    cursor: String(row.seq),
    time: timestampFromMs(row.at),
    level: row.level,
    source: row.source,
    message: row.message,
    executionId: row.execution_id ?? "",
    deploymentId: row.deployment_id ?? "",
    name: row.name ?? "",
    environment: row.environment ?? "",
  });
}
