import type { Client } from "@connectrpc/connect";
import type { ProjectDefinition } from "../../project/definition.ts";
import { emptySnapshot, type Plan, planChanges } from "../../project/plan/plan.ts";
import { snapshotOfDeployment, snapshotOfProject } from "../../project/plan/snapshot.ts";
import type { Deployment, DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { activeDeployment, activeEnvironments } from "../api/active-deployment.ts";
import { type Connection, defaultEnvironment } from "../api/connection.ts";
import { CliError } from "../app/errors.ts";
import { withInterrupt } from "../app/signals.ts";
import { declarationFile, updateDeclaration } from "../project/write-declaration.ts";
import { stderrColors as colors } from "../terminal/colors.ts";
import { confirm } from "../terminal/confirm.ts";
import { bytes, count, duration } from "../terminal/format.ts";
import { printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { nextStepsText } from "../terminal/steps.ts";
import { planText, printActivated } from "../views/plan.ts";
import { retryWarnings, unsignedHint } from "./hints.ts";
import { nextSteps } from "./next-steps.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { uploadPackage } from "./upload.ts";

export interface PushOptions {
  environment: string | undefined;
  "dry-run": boolean;
  force: boolean;
  redeploy: boolean;
  json: boolean;
  verbose: boolean;
}

/** A push before its confirmation. */
interface Push {
  project: Prepared;
  /** Name and version of the project. */
  label: string;
  environment: string;
  /** The environments with deployments when this one has none; otherwise empty. */
  otherEnvironments: readonly string[];
  active: Deployment | null;
  /** Whether the package is already active. */
  isUnchanged: boolean;
  plan: Plan;
}

/** Validates and packages the project in a folder, prints the changes, asks for confirmation, uploads and deploys. */
export async function push(root: string, connection: Connection, options: PushOptions): Promise<void> {
  const startedAt = performance.now();
  const planned = await planPush(root, connection, options);
  const planMs = performance.now() - startedAt;
  const { active, environment, isUnchanged, label } = planned;
  if (!options["dry-run"] && (await updateDeclaration(root, planned.project.definition))) {
    report.detail(`Wrote ${declarationFile}.`);
  }
  if (options["dry-run"] && options.json) return printJson(planJson(planned));
  if (isUnchanged && active !== null && !options.redeploy) {
    const unchanged = { ...active, files: [], unchanged: true };
    return printActivated(unchanged, options, `No changes: ${label} is already active in ${environment}.`);
  }
  for (const warning of retryWarnings(planned.project.definition)) report.warning(warning);
  if (!options.json) reportPush(planned, connection, options);
  if (options["dry-run"]) return report.line("Dry run: nothing was deployed.");
  await confirm(`Deploy to ${environment}?`, options);
  const confirmedAt = performance.now();
  const deployment = await deploy(planned, connection, options);
  const elapsed = duration(planMs + performance.now() - confirmedAt);
  await printActivated(deployment, options, `Deployed ${label} to ${environment} in ${elapsed}.`);
  if (options.json || active !== null) return;
  report.line(nextStepsText(await nextSteps(root, connection, planned.project.definition, deployment)));
}

async function planPush(root: string, connection: Connection, options: PushOptions): Promise<Push> {
  const environment = options.environment ?? defaultEnvironment(connection);
  const project = await prepare(root, options);
  const { definition, packed } = project;
  const deployments = await connection.client("deployments");
  const active = await activeDeployment(deployments, definition.name, environment);
  const isUnchanged = active !== null && active.digest === packed.digest;
  const isUsed = isUnchanged || (await checkNames(deployments, definition, environment));
  const otherEnvironments = isUsed ? [] : await activeEnvironments(deployments);
  // The modules of the active deployment loaded when it was deployed.
  if (!isUnchanged) await project.checkModules();
  const before = active === null ? emptySnapshot : snapshotOfDeployment(active);
  const after = isUnchanged ? before : snapshotOfProject(definition, packed.files);
  const label = sanitizeLine(`${definition.name} ${definition.version}`);
  const plan = planChanges(before, after);
  return { project, label, environment, otherEnvironments, active, isUnchanged, plan };
}

/**
 * @returns whether the environment has active deployments
 * @throws CliError when another project has deployed an agent or workflow of the same name to the environment
 */
async function checkNames(
  deployments: Client<typeof DeploymentService>,
  definition: ProjectDefinition,
  environment: string,
): Promise<boolean> {
  const names = new Set([...definition.agents, ...definition.workflows].map(({ name }) => name));
  const active = await deployments.listDeployments({ status: "active", environment, pageSize: 1000 });
  for (const { project, agents, workflows } of active.deployments) {
    if (project === definition.name) continue;
    const taken = [...agents, ...workflows].find(({ name }) => names.has(name));
    if (taken === undefined) continue;
    const kind = agents.includes(taken) ? "agent" : "workflow";
    throw new CliError(
      `Cannot deploy: the ${kind} "${taken.name}" belongs to project "${sanitizeLine(project)}" in ${environment}.`,
      "Nothing was deployed. Rename it in one of the projects, or run `svc push <environment>` for another environment.",
    );
  }
  return active.deployments.length > 0;
}

function planJson({ project, environment, active, isUnchanged, plan }: Push): Record<string, unknown> {
  const { definition, packed } = project;
  return {
    project: definition.name,
    version: definition.version,
    environment,
    active_deployment_id: active?.deploymentId ?? null,
    digest: packed.digest,
    size_bytes: packed.sizeBytes,
    file_count: packed.files.length,
    unchanged: isUnchanged,
    plan,
  };
}

function reportPush(push: Push, connection: Connection, options: PushOptions): void {
  const { active, environment, otherEnvironments, plan, project, label } = push;
  const { files, sizeBytes } = project.packed;
  const now =
    active === null
      ? ""
      : ` ${colors.dim(`(active: ${sanitizeLine(active.version)}, ${active.deploymentId})`)}`;
  report.wrapped(`${label} → ${environment} at ${connection.baseUrl}${now}`, 2);
  if (otherEnvironments.length > 0) {
    report.warning(`The environment ${environment} is new. Others: ${otherEnvironments.join(", ")}.`);
  }
  report.line(planText(plan, options));
  report.line(`  ${colors.dim(`package: ${count(files.length, "file")}, ${bytes(sizeBytes)}`)}\n`);
  const hint = unsignedHint(project.definition);
  if (hint !== "") report.hint(`${hint}\n`);
}

async function deploy(push: Push, connection: Connection, options: PushOptions): Promise<Deployment> {
  const { environment } = push;
  const { definition, packed } = push.project;
  const deployments = await connection.client("deployments");
  const startedAt = performance.now();
  const isUploaded = await uploadPackage(deployments, packed);
  if (options.verbose) {
    const elapsed = duration(performance.now() - startedAt);
    const text = isUploaded
      ? `Uploaded ${bytes(packed.sizeBytes)} in ${elapsed}.`
      : "The package is already stored.";
    report.detail(text);
  }
  const request = { digest: packed.digest, environment, redeploy: options.redeploy };
  const project = sanitizeLine(definition.name);
  return withInterrupt(
    () => detach(project),
    () => deployments.createDeployment(request),
  );
}

function detach(project: string): never {
  report.line("\nDetached. The service continues to deploy.");
  report.hint(`Run \`svc deployments --project ${project}\` to see the result.`);
  process.exit(130);
}
