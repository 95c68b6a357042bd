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
  target: JsonObject;
}

/** Deployments that are read at once. */
const pageSize = 1000;

/** The agents and workflows of an environment. */
export async function listTargets(session: Session, environment: string): Promise<Target[]> {
  const { listDeployments } = DeploymentService.method;
  const request = { status: "active", environment, page_size: pageSize };
  const { deployments } = await callUnary(session, listDeployments, request);
  return objects(deployments).flatMap(({ project = null, agents, workflows }) => [
    ...objects(agents).map((target) => ({ kind: "agent" as const, project, target })),
    ...objects(workflows).map((target) => ({ kind: "workflow" as const, project, target })),
  ]);
}

/** The tools of the environment of the session. */
export async function targetTools(session: Session): Promise<Tool[]> {
  const targets = await listTargets(session, session.environment || defaultEnvironment);
  return targets.filter(({ target }) => target.expose_as_tool === true).map(toTool);
}

function toTool({ kind, target }: Target): Tool {
  const name = String(target.name);
  const { runExecution } = ExecutionService.method;
  return {
    name,
    title: String(target.display_name),
    description: String(target.description) || `Runs the ${kind} ${name}.`,
    inputSchema: { type: "object" },
    hints: { readOnly: false },
    method: runExecution,
    run: (session, input, progress) => runAndWait(session, runExecution, { name, kind, input }, progress),
  };
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
