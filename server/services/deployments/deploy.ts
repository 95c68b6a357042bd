/** Deploys a stored package. The server reads and validates the package itself and does not trust the client. */
import type { ProjectDefinition } from "../../../project/definition.ts";
import type { Caller } from "../../auth/caller.ts";
import { fail } from "../../errors.ts";
import { type Boundary, describeBoundary, enforcesNetwork } from "../../executions/sandbox/boundary.ts";
import { orderedId } from "../../ids.ts";
import {
  type DeploymentRow,
  failDeployment,
  getActiveDeployment,
  getDeployment,
  insertDeployment,
  insertEvent,
} from "../../store/tables/deployments.ts";
import { keepObject, type ObjectRow } from "../../store/tables/objects.ts";
import { lockOrganization } from "../../store/tables/organizations.ts";
import { insertSchemas } from "../../store/tables/schemas.ts";
import type { App } from "../app.ts";
import { audit } from "../audit.ts";
import {
  aboutOf,
  activationOf,
  afterActivation,
  deploymentName,
  logDeployment,
  rethrowConflict,
  switchTo,
} from "./activation.ts";
import type { UnpackedPackage } from "./packages.ts";
import { schemaRows } from "./schemas.ts";
import { requireObject } from "./uploads.ts";

export interface DeployRequest {
  caller: Caller;
  /** The deployment to promote. Null for a push. */
  source: DeploymentRow | null;
  digest: string;
  environment: string;
  redeploy: boolean;
}

export async function deploy(
  app: App,
  request: DeployRequest,
): Promise<{ deploymentId: string; unchanged: boolean }> {
  const key = { orgId: request.caller.orgId, digest: request.digest };
  const object = await requireObject(app, key);
  const unpacked = await app.packages.unpack(key);
  try {
    return await deployUnpacked(app, request, object, unpacked);
  } finally {
    unpacked.release();
  }
}

async function deployUnpacked(
  app: App,
  request: DeployRequest,
  object: ObjectRow,
  { directory, files }: UnpackedPackage,
): Promise<{ deploymentId: string; unchanged: boolean }> {
  const { engine } = app;
  const { caller, digest, environment, source } = request;
  // Loaded at the first deployment: the parsers of project files are a fifth of the server's code.
  const { readDefinition, checkModules, checkInputs } = await import("./project.ts");
  const definition = await readDefinition(directory);
  checkNetwork(app, definition);
  const active = await engine.read(() => getActiveDeployment(caller.orgId, environment, definition.name));
  if (active !== undefined && active.digest === digest && !request.redeploy) {
    return { deploymentId: active.deployment_id, unchanged: true };
  }
  const now = Date.now();
  const actor = { keyId: caller.keyId, keyName: caller.keyName };
  const deploymentId = orderedId("dep", now);
  const row = {
    org_id: caller.orgId,
    deployment_id: deploymentId,
    project: definition.name,
    version: definition.version,
    environment,
    digest,
    size_bytes: object.size_bytes,
    file_count: files.length,
    definition: JSON.stringify(definition),
    files: JSON.stringify(files),
    source_deployment_id: source?.deployment_id ?? null,
    created_by: caller.keyId,
    created_by_name: caller.keyName,
    created_at: now,
  };
  await engine.write(function* () {
    if (!(yield* keepObject(caller.orgId, digest, now))) {
      throw fail(
        "UNAVAILABLE",
        `Cannot deploy ${digest}: the unused package was deleted just now; upload it again.`,
      );
    }
    yield* insertDeployment(row);
    yield* insertEvent(caller.orgId, deploymentId, source === null ? "created" : "promoted", now, actor);
  });
  const pending: DeploymentRow = { ...row, status: "pending", activated_at: null, error: "" };
  try {
    const checks = await checkModules(app, deploymentId, directory, definition);
    await checkInputs(directory, definition, checks);
    const schemas = schemaRows(definition, checks);
    await engine
      .write(function* () {
        yield* lockOrganization(caller.orgId);
        const now = yield* getDeployment(caller.orgId, deploymentId);
        if (now?.status !== "pending") {
          throw fail(
            "DEPLOYMENT_CHANGED",
            `Cannot activate ${deploymentId}: its status is now ${now?.status}.`,
          );
        }
        yield* insertSchemas(caller.orgId, deploymentId, schemas);
        yield* switchTo(activationOf(pending, actor));
        if (source === null) {
          yield* audit(caller, "deployment.pushed", deploymentName(pending), aboutOf(pending));
        } else {
          const object = `${deploymentName(pending)}, from ${source.deployment_id} in ${source.environment}`;
          yield* audit(caller, "deployment.promoted", object, aboutOf(pending));
        }
      })
      .catch(rethrowConflict);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^\[[a-z_]+\] /, "") : String(error);
    await engine.write(() => failDeployment(caller.orgId, deploymentId, message, Date.now()));
    logDeployment(app, pending, `Deployment ${deploymentId} of '${definition.name}' failed: ${message}`);
    throw error;
  }
  afterActivation(app, pending);
  return { deploymentId, unchanged: false };
}

/** @throws ConnectError when the project restricts its network and the boundary around runners cannot enforce that */
export function checkNetwork({ boundary, isLocal }: App, definition: ProjectDefinition): void {
  // Without runners here, a worker checks it together with the modules. On the machine of its author a project runs
  // without the restriction, so that it can be developed everywhere.
  const problem = boundary === null || isLocal ? null : networkProblem(boundary, definition);
  if (problem !== null) throw fail("NETWORK_NOT_ENFORCEABLE", problem);
}

/** One sentence when the project restricts its network and the boundary cannot enforce that; otherwise null. */
export function networkProblem(boundary: Boundary, { network }: ProjectDefinition): string | null {
  if (network === null || enforcesNetwork(boundary)) return null;
  return `The project restricts its network with 'network', and the boundary of this service (${describeBoundary(boundary)}) cannot enforce it. The operator must run the service with SVC_RUNNER=deno or bubblewrap.`;
}
