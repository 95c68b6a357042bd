/** Agents and workflows with `expose_as_tool` as tools. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../project/json.ts";
import { DeploymentService } from "../../../proto/svc/v1/deployment_pb.ts";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { defaultEnvironment } from "../../services/request.ts";
import { callUnary, type Session } from "./calls.ts";
import { runAndWait } from "./run.ts";
import type { Tool } from "./tool.ts";

/** An agent or workflow of an active deployment, as JSON of the contract. */
export interface Target {
  kind: "agent" | "workflow";
  project: JsonValue;
  deploymentId: JsonValue;
  target: JsonObject;
}

const { getDeployment, listDeployments } = DeploymentService.method;

/** Deployments that are read at once. */
const pageSize = 1000;

/** The agents and workflows of an environment. */
export async function listTargets(session: Session, environment: string): Promise<Target[]> {
  const request = { status: "active", environment, page_size: pageSize };
  const { deployments } = await callUnary(session, listDeployments, request);
  return objects(deployments).flatMap(
    ({ project = null, deployment_id: deploymentId = null, agents, workflows }) => [
      ...objects(agents).map((target) => ({ kind: "agent" as const, project, deploymentId, target })),
      ...objects(workflows).map((target) => ({ kind: "workflow" as const, project, deploymentId, target })),
    ],
  );
}

/** The tools of the environment of the session. */
export async function targetTools(session: Session): Promise<Tool[]> {
  const targets = await listTargets(session, session.environment || defaultEnvironment);
  const exposed = targets.filter(({ target }) => target.expose_as_tool === true);
  const ids = new Set(exposed.map(({ deploymentId }) => deploymentId));
  // Lists have no schemas.
  const deployments = await Promise.all(
    [...ids].map((id) => callUnary(session, getDeployment, { deployment_id: id })),
  );
  const detailed = deployments.flatMap(({ agents, workflows }) => [
    ...objects(agents),
    ...objects(workflows),
  ]);
  return exposed.map(({ kind, target }) =>
    toTool(kind, detailed.find(({ name }) => name === target.name) ?? target),
  );
}

function toTool(kind: Target["kind"], target: JsonObject): Tool {
  const name = String(target.name);
  const { runExecution } = ExecutionService.method;
  const outputSchema = objectSchema(target.output_schema);
  const isStructured = outputSchema !== null;
  return {
    name,
    title: String(target.display_name),
    description: String(target.description) || `Runs the ${kind} ${name}.`,
    inputSchema: objectSchema(target.input_schema) ?? { type: "object" },
    ...(isStructured && { outputSchema }),
    hints: { readOnly: false },
    method: runExecution,
    run: (session, input, progress) =>
      runAndWait(session, runExecution, { name, kind, input }, progress, isStructured),
  };
}

/** Schemas of tools must be of objects. Clients know the dialect, and some reject its name. */
function objectSchema(schema: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(schema) || schema.type !== "object") return null;
  const { $schema: _, ...rest } = schema;
  return rest;
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
