/** Deploys a stored package. The server reads and validates the package itself and does not trust the client. */
import { Code } from "@connectrpc/connect";
import type { ProjectDefinition } from "../../project/definition.ts";
import { loadProject } from "../../project/load.ts";
import { PROJECT_FILE } from "../../project/names.ts";
import { formatProblem } from "../../project/problem.ts";
import type { Caller } from "../auth/caller.ts";
import { fail, invalid } from "../errors.ts";
import { describeBoundary, enforcesNetwork } from "../executions/sandbox/boundary.ts";
import { orderedId } from "../ids.ts";
import type { TickEffects } from "../schedules/ticks.ts";
import {
  type DeploymentRow,
  failDeployment,
  getActiveDeployment,
  getDeployment,
  insertDeployment,
  insertEvent,
} from "../store/deployments.ts";
import { getObject } from "../store/objects.ts";
import {
  aboutOf,
  activationOf,
  afterActivation,
  deploymentName,
  logDeployment,
  rethrowConflict,
  switchTo,
} from "./activation.ts";
import type { App } from "./app.ts";
import { audit } from "./audit.ts";

/** Timeout for loading one module. */
const loadTimeoutMs = 20_000;

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
  const { engine } = app;
  const { caller, digest, environment, source } = request;
  const key = { orgId: caller.orgId, digest };
  const object = await engine.read(() => getObject(caller.orgId, digest));
  if (object === undefined) {
    throw fail(
      Code.FailedPrecondition,
      `Cannot deploy ${digest}: the package is not stored; upload it first.`,
    );
  }
  const files = await app.packages.unpack(key);
  const definition = await readDefinition(app.packages.directory(key));
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
    yield* insertDeployment(row);
    yield* insertEvent(caller.orgId, deploymentId, source === null ? "created" : "promoted", now, actor);
  });
  const pending: DeploymentRow = { ...row, status: "pending", activated_at: null, error: "" };
  let effects: TickEffects;
  try {
    await checkModules(app, deploymentId, app.packages.directory(key), definition);
    effects = await engine
      .write(function* () {
        const now = yield* getDeployment(caller.orgId, deploymentId);
        if (now?.status !== "pending") {
          throw fail(Code.Aborted, `Cannot activate ${deploymentId}: its status is now ${now?.status}.`);
        }
        const due = yield* switchTo(activationOf(pending, actor));
        if (source === null) {
          yield* audit(caller, "deployment.pushed", deploymentName(pending), aboutOf(pending));
        } else {
          const object = `${deploymentName(pending)}, from ${source.deployment_id} in ${source.environment}`;
          yield* audit(caller, "deployment.promoted", object, aboutOf(pending));
        }
        return due;
      })
      .catch(rethrowConflict);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^\[[a-z_]+\] /, "") : String(error);
    await engine.write(() => failDeployment(caller.orgId, deploymentId, message, Date.now()));
    logDeployment(app, pending, `Deployment ${deploymentId} of '${definition.name}' failed: ${message}`);
    throw error;
  }
  afterActivation(app, pending, effects);
  return { deploymentId, unchanged: false };
}

async function readDefinition(directory: string): Promise<ProjectDefinition> {
  const { definition, problems } = await loadProject(directory);
  if (definition !== null) return definition;
  const list = problems.map((problem) => formatProblem(PROJECT_FILE, problem)).join("\n");
  throw invalid(`Invalid configuration in ${PROJECT_FILE}\n${list}`);
}

/** @throws ConnectError when the project restricts its network and the boundary around runners cannot enforce that */
function checkNetwork({ boundary }: App, { network }: ProjectDefinition): void {
  if (network === null || enforcesNetwork(boundary)) return;
  throw fail(
    Code.FailedPrecondition,
    `Cannot deploy: the project restricts its network with 'network', and the boundary of this service (${describeBoundary(boundary)}) cannot enforce it. The operator must run the service with SVC_RUNNER=deno or bubblewrap.`,
    { status: 409 },
  );
}

/** Loads every module in a runner. */
async function checkModules(
  app: App,
  deploymentId: string,
  directory: string,
  definition: ProjectDefinition,
): Promise<void> {
  const modules = [...definition.agents, ...definition.workflows].map((target) => target.module);
  const checks = await app.pools.check({ deploymentId, directory }, modules, loadTimeoutMs);
  const broken = checks.filter((check) => !check.ok);
  if (broken.length === 0) return;
  const list = broken.map(({ module, error }) => {
    const place = error?.file === undefined ? module : `${error.file}:${error.line ?? 1}`;
    return `${place}: ${error?.name ?? "Error"}: ${error?.message ?? "the module cannot be loaded"}`;
  });
  throw invalid(`Cannot load the project's modules:\n${list.join("\n")}`);
}
