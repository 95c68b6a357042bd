/** Replays an execution: a new execution with the same or a given input. */
import type { ProjectDefinition } from "../../../project/definition.ts";
import { noResource, wrongState } from "../../errors.ts";
import { orderedId } from "../../ids.ts";
import type { Program } from "../../store/engine.ts";
import { getTarget } from "../../store/tables/activation.ts";
import { getDeployment } from "../../store/tables/deployments.ts";
import { type ExecutionRow, getExecution, insertExecution } from "../../store/tables/executions.ts";
import { parseStored } from "../../store/tables/json.ts";

/** @param deploymentId - the deployment to run. Empty for the active one */
export function* replay(original: ExecutionRow, input: string, deploymentId: string): Program<ExecutionRow> {
  const { org_id, kind, name, environment } = original;
  const now = Date.now();
  const executionId = orderedId("exe", now);
  yield* insertExecution({
    org_id,
    execution_id: executionId,
    kind,
    name,
    origin: "replay",
    deployment_id: deploymentId === "" ? yield* activeFor(original) : yield* named(original, deploymentId),
    environment,
    input,
    replay_of: original.execution_id,
    created_at: now,
  });
  const row = yield* getExecution(org_id, executionId);
  if (row === undefined) throw new Error("The inserted row was not found.");
  return row;
}

function* activeFor({ org_id, environment, kind, name }: ExecutionRow): Program<string> {
  const target = yield* getTarget(org_id, environment, name);
  if (target === undefined || target.kind !== kind) {
    throw wrongState(
      "TARGET_NOT_DEPLOYED",
      kind,
      name,
      `Cannot replay: no active deployment in ${environment} has the ${kind} '${name}'. Pass the id of a deployment that has it.`,
    );
  }
  return target.deployment_id;
}

function* named({ org_id, kind, name }: ExecutionRow, deploymentId: string): Program<string> {
  const deployment = yield* getDeployment(org_id, deploymentId);
  if (deployment === undefined || deployment.status === "deleted") {
    throw noResource("deployment", deploymentId, `There is no deployment '${deploymentId.slice(0, 80)}'.`);
  }
  const definition = parseStored<ProjectDefinition>(deployment.definition);
  const targets = kind === "agent" ? definition.agents : definition.workflows;
  if (!targets.some((target) => target.name === name)) {
    throw wrongState(
      "TARGET_NOT_DEPLOYED",
      kind,
      name,
      `Cannot replay: deployment ${deploymentId} has no ${kind} '${name}'.`,
    );
  }
  return deploymentId;
}
