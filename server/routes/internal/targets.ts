/** Reads the agents and workflows of an environment for a caller, as JSON of the contract. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../project/json.ts";
import { DeploymentService } from "../../../proto/svc/v1/deployment_pb.ts";
import { callUnary, type Session } from "./calls.ts";

/** An agent or workflow of an active deployment. */
export interface Target {
  kind: "agent" | "workflow";
  project: JsonValue;
  deploymentId: JsonValue;
  target: JsonObject;
}

const { getDeployment, listDeployments } = DeploymentService.method;

/** Deployments that are read at once. */
const pageSize = 1000;

/** The agents and workflows of an environment, without their schemas. */
export async function listTargets(session: Session, environment: string): Promise<Target[]> {
  const request = { status: "active", environment, page_size: pageSize };
  const { deployments } = await callUnary(session, listDeployments, request);
  return objects(deployments).flatMap(targetsOf);
}

/** The deployments whose schemas one request reads, each at most 1 MiB. Targets of further ones are returned without. */
const maxDetailed = 32;

/** The same targets with their schemas, which lists do not have. */
export async function withSchemas(session: Session, targets: readonly Target[]): Promise<Target[]> {
  const ids = new Set(targets.map(({ deploymentId }) => deploymentId));
  const deployments = await Promise.all(
    [...ids].slice(0, maxDetailed).map((id) => callUnary(session, getDeployment, { deployment_id: id })),
  );
  const detailed = deployments.flatMap(targetsOf);
  return targets.map(
    (listed) =>
      detailed.find(({ kind, target }) => kind === listed.kind && target.name === listed.target.name) ??
      listed,
  );
}

function targetsOf({ project = null, deployment_id: deploymentId = null, agents, workflows }: JsonObject) {
  return [
    ...objects(agents).map((target) => ({ kind: "agent" as const, project, deploymentId, target })),
    ...objects(workflows).map((target) => ({ kind: "workflow" as const, project, deploymentId, target })),
  ];
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
