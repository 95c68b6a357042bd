/** Converts rows of the store to messages of the contract. */
import { create, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { durationFromMs, type Timestamp, timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { TraceEntry } from "../../project/mapping.ts";
import { webhookSettings } from "../../project/webhook/settings.ts";
import {
  type DeployedTarget,
  DeployedTargetSchema,
  type Deployment,
  DeploymentSchema,
} from "../../proto/svc/v1/deployment_pb.ts";
import {
  type Attempt,
  AttemptSchema,
  type Execution,
  ExecutionErrorSchema,
  ExecutionResponseSchema,
  ExecutionSchema,
  type LogLine,
  LogLineSchema,
  MappingStepSchema,
} from "../../proto/svc/v1/execution_pb.ts";
import type { AttemptResponse } from "../executions/pool/contract.ts";
import type { StoredError } from "../executions/states.ts";
import type { DeploymentRow } from "../store/tables/deployments.ts";
import type { AttemptRow, ExecutionRow, ExecutionSummary } from "../store/tables/executions.ts";
import { parseStored } from "../store/tables/json.ts";
import type { LogRow } from "../store/tables/logs.ts";
import { fitMessage } from "./grpc-size.ts";

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
    sizeBytes: BigInt(row.size_bytes),
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
        settings: webhookSettings(webhook),
      })),
    ),
    schedules: definition.schedules.map(({ kind, name, target, cron, timezone, enabled }) => ({
      kind,
      name,
      target: target ?? name,
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
    timeout: durationFromMs(target.timeoutSeconds * 1000),
    maxRetries: target.retry?.maxRetries ?? 0,
    description: target.description ?? "",
    exposeAsTool: target.exposeAsTool ?? false,
  });
}

/** An execution as lists show it: without input, output, unmapped paths and stack. */
export function toExecutionSummary(row: ExecutionSummary): Execution {
  const error = row.error === null ? undefined : parseStored<StoredError>(row.error);
  return create(ExecutionSchema, {
    executionId: row.execution_id,
    status: row.status,
    kind: row.kind,
    name: row.name,
    trigger: row.origin,
    deploymentId: row.deployment_id,
    environment: row.environment,
    error: error === undefined ? undefined : create(ExecutionErrorSchema, { ...error, stack: "" }),
    attempt: row.attempt,
    parentExecutionId: row.parent_execution_id ?? "",
    createdAt: timestampFromMs(row.created_at),
    startedAt: optionalTime(row.started_at),
    finishedAt: optionalTime(row.finished_at),
    dueAt: optionalTime(row.status === "queued" && row.due_at > row.created_at ? row.due_at : null),
    replayOf: row.replay_of ?? "",
  });
}

/** @param limited - leaves out values with which the message would exceed the limit of gRPC clients */
export function toExecution(row: ExecutionRow, limited: boolean): Execution {
  const message = toExecutionSummary(row);
  message.input = parseStored<JsonObject>(row.input);
  if (row.output !== null) message.output = fromJson(ValueSchema, parseStored<JsonValue>(row.output));
  if (row.error !== null) message.error = create(ExecutionErrorSchema, parseStored<StoredError>(row.error));
  message.unmapped = parseStored<string[]>(row.unmapped);
  return limited ? fitExecution(message, row) : message;
}

function fitExecution(message: Execution, row: ExecutionRow): Execution {
  const texts = [row.input, row.output, row.error, row.unmapped, row.mapping, row.response];
  // A message with other executions is always measured.
  const start = message.descendants.length > 0 ? Number.POSITIVE_INFINITY : 0;
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), start);
  const omitInput = (execution: Execution) => {
    execution.input = undefined;
    execution.inputOmitted = true;
  };
  const omitOutput = (execution: Execution) => {
    execution.output = undefined;
    execution.outputOmitted = true;
  };
  const hasLargerInput = row.input.length > (row.output?.length ?? 0);
  const omissions = hasLargerInput ? [omitInput, omitOutput] : [omitOutput, omitInput];
  return fitMessage(ExecutionSchema, message, length, omissions);
}

/** Adds the fields that only `GetExecution` returns. */
export function detailed(
  row: ExecutionRow,
  attempts: readonly AttemptRow[],
  tree: Pick<Execution, "descendants" | "childCount"> | undefined,
  limited: boolean,
): Execution {
  const message = toExecution(row, false);
  Object.assign(message, tree);
  const trace = row.mapping === null ? [] : parseStored<TraceEntry[]>(row.mapping);
  message.mapping = trace.map(({ type, stoppedAt, because, ...entry }) =>
    create(MappingStepSchema, {
      ...entry,
      type: type ?? "",
      stoppedAt: stoppedAt ?? "",
      because: because ?? "",
    }),
  );
  if (row.response !== null) {
    message.response = create(ExecutionResponseSchema, parseStored<AttemptResponse>(row.response));
  }
  message.attempts = attempts.map(toAttempt);
  return limited ? fitExecution(message, row) : message;
}

export function toAttempt(row: AttemptRow): Attempt {
  return create(AttemptSchema, {
    attempt: row.attempt,
    startedAt: optionalTime(row.started_at),
    finishedAt: timestampFromMs(row.finished_at),
    error: create(ExecutionErrorSchema, parseStored<StoredError>(row.error)),
    retryAt: optionalTime(row.retry_at),
  });
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
    ...(typeof row.fields === "string" && { fields: parseStored<JsonObject>(row.fields) }),
  });
}
