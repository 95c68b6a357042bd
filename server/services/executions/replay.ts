/** Replays an execution: a new execution with the same or a given input. */
import type { ProjectDefinition, TargetDefinition } from "../../../project/definition.ts";
import { noResource, wrongState } from "../../errors.ts";
import { orderedId } from "../../ids.ts";
import type { Program } from "../../store/engine.ts";
import { getTarget } from "../../store/tables/activation.ts";
import { getDeployment } from "../../store/tables/deployments.ts";
import { type ExecutionRow, getExecution } from "../../store/tables/executions.ts";
import { parseStored } from "../../store/tables/json.ts";
import { insertExecution } from "../../store/tables/new-executions.ts";
import { listSchemas } from "../../store/tables/schemas.ts";
import { Unchecked } from "./input-check.ts";

export interface Replay {
  original: ExecutionRow;
  /** JSON text. Null for the input of the original. */
  input: string | null;
  /** The deployment to run. Empty for the active one. */
  deploymentId: string;
  /** The deployment whose schema has accepted the input. */
  checked: string | null;
  /** The context of the request; null without tracing. */
  trace: string | null;
}

export function* replay({
  original,
  input,
  deploymentId,
  checked,
  trace,
}: Replay): Program<ExecutionRow | Unchecked> {
  const { org_id, kind, name, environment } = original;
  const target = yield* targetOf(original, deploymentId);
  if (input !== null && target.deploymentId !== checked) {
    const schemas = yield* listSchemas(org_id, target.deploymentId);
    const schema = schemas.find((row) => row.name === name)?.input ?? null;
    if (schema !== null) return new Unchecked(target.deploymentId, name, target.module);
  }
  const now = Date.now();
  const executionId = orderedId("exe", now);
  yield* insertExecution({
    org_id,
    execution_id: executionId,
    kind,
    name,
    origin: "replay",
    deployment_id: target.deploymentId,
    environment,
    input: input ?? original.input,
    replay_of: original.execution_id,
    trace,
    created_at: now,
  });
  const row = yield* getExecution(org_id, executionId);
  if (row === undefined) throw new Error("The inserted row was not found.");
  return row;
}

interface ReplayTarget {
  deploymentId: string;
  module: string;
}

function* targetOf(original: ExecutionRow, deploymentId: string): Program<ReplayTarget> {
  // An alert is about an execution of its own deployment, which has the URL.
  if (original.kind === "alert") return { deploymentId: original.deployment_id, module: "" };
  return deploymentId === "" ? yield* activeFor(original) : yield* named(original, deploymentId);
}

function* activeFor({ org_id, environment, kind, name }: ExecutionRow): Program<ReplayTarget> {
  const target = yield* getTarget(org_id, environment, name);
  if (target === undefined || target.kind !== kind) {
    throw wrongState(
      "TARGET_NOT_DEPLOYED",
      kind,
      name,
      `Cannot replay: no active deployment in ${environment} has the ${kind} '${name}'. Pass the id of a deployment that has it.`,
    );
  }
  const { module } = parseStored<TargetDefinition>(target.definition);
  return { deploymentId: target.deployment_id, module };
}

function* named({ org_id, kind, name }: ExecutionRow, deploymentId: string): Program<ReplayTarget> {
  const deployment = yield* getDeployment(org_id, deploymentId);
  if (deployment === undefined || deployment.status === "deleted") {
    throw noResource("deployment", deploymentId, `There is no deployment '${deploymentId.slice(0, 80)}'.`);
  }
  const definition = parseStored<ProjectDefinition>(deployment.definition);
  const targets = kind === "agent" ? definition.agents : definition.workflows;
  const target = targets.find((candidate) => candidate.name === name);
  if (target === undefined) {
    throw wrongState(
      "TARGET_NOT_DEPLOYED",
      kind,
      name,
      `Cannot replay: deployment ${deploymentId} has no ${kind} '${name}'.`,
    );
  }
  return { deploymentId, module: target.module };
}
