import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import { activeDeployment } from "../api/active-deployment.ts";
import { type Connection, environmentOf } from "../api/connection.ts";
import { isEmpty, nothing, type Plan, planChanges } from "../diff/changes.ts";
import { sideOfDeployment, sideOfProject } from "../diff/snapshot.ts";
import { out } from "../terminal/colors.ts";
import { confirm } from "../terminal/confirm.ts";
import { bytes, cleanLine, count, duration, prettyJson } from "../terminal/format.ts";
import { print, printJson } from "../terminal/output.ts";
import { say } from "../terminal/report.ts";
import { indent } from "../terminal/table.ts";
import { planText } from "../views/changes.ts";
import { deployedText } from "../views/deployment.ts";
import { unsignedHint } from "./hints.ts";
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

/** What is to be pushed, where, and what is there now. */
interface Push {
  project: Prepared;
  /** Name and version, for people. */
  what: string;
  environment: string;
  active: Deployment | null;
  /** Whether the active deployment has this very package. */
  isSame: boolean;
  plan: Plan;
}

/** Checks and packages the project in a folder, shows what would change, asks, uploads and deploys. */
export async function push(root: string, connection: Connection, options: PushOptions): Promise<void> {
  const startedAt = performance.now();
  const planned = await plan(root, connection, options);
  if (options["dry-run"] && options.json) return print(prettyJson(planJson(planned)));
  if (planned.isSame && !options.redeploy) return sayUnchanged(planned, options);
  if (!options.json) sayPlan(planned, connection, options);
  if (options["dry-run"]) return say.line("Nothing was deployed.");
  await confirm(`Deploy to ${planned.environment}?`, options);
  const deployment = await deploy(planned, connection, options);
  if (options.json) return printDeployment(deployment);
  say.done(
    `Deployed ${planned.what} to ${planned.environment} in ${duration(performance.now() - startedAt)}.`,
  );
  print(deployedText(deployment));
  say.line(`\nNext:\n${indent(nextSteps(deployment).join("\n"))}`);
}

async function plan(root: string, connection: Connection, options: PushOptions): Promise<Push> {
  const environment = options.environment ?? environmentOf(connection.baseUrl) ?? "production";
  const project = await prepare(root, options);
  const { definition, packed } = project;
  const active = await activeDeployment(await connection.client("deployments"), definition.name, environment);
  const isSame = active !== null && active.digest === packed.digest;
  // What is active already was loaded when it was deployed.
  if (!isSame) await project.checkModules();
  const before = active === null ? nothing : sideOfDeployment(active);
  const after = isSame ? before : sideOfProject(definition, packed.files);
  const what = cleanLine(`${definition.name} ${definition.version}`);
  return { project, what, environment, active, isSame, plan: planChanges(before, after) };
}

function planJson({ project, environment, active, isSame, plan }: Push): Record<string, unknown> {
  const { definition, packed } = project;
  return {
    project: definition.name,
    version: definition.version,
    environment,
    active_deployment_id: active?.deploymentId ?? null,
    digest: packed.digest,
    size_bytes: packed.sizeBytes,
    file_count: packed.files.length,
    unchanged: isSame,
    plan,
  };
}

async function sayUnchanged({ what, environment, active }: Push, options: PushOptions): Promise<void> {
  if (active === null) return;
  if (options.json) return printDeployment({ ...active, files: [], unchanged: true });
  say.done(`Nothing has changed: ${what} is active in ${environment} already.`);
  print(deployedText(active));
}

function sayPlan(push: Push, connection: Connection, options: PushOptions): void {
  const { active, environment, plan, project, what } = push;
  const { files, sizeBytes } = project.packed;
  const now =
    active === null ? "" : ` ${out.dim(`(now ${cleanLine(active.version)}, ${active.deploymentId})`)}`;
  say.line(`${what} → ${environment} at ${connection.baseUrl}${now}`);
  say.line(isEmpty(plan) ? "  nothing differs" : planText(plan, options));
  say.line(`  ${out.dim(`package: ${count(files.length, "file")}, ${bytes(sizeBytes)}`)}\n`);
  const hint = unsignedHint(project.definition);
  if (hint !== "") say.hint(`${hint}\n`);
}

async function deploy(push: Push, connection: Connection, options: PushOptions): Promise<Deployment> {
  const { environment, project } = push;
  const { packed } = project;
  const deployments = await connection.client("deployments");
  const startedAt = performance.now();
  const wasSent = await uploadPackage(deployments, packed);
  if (options.verbose) {
    const took = duration(performance.now() - startedAt);
    say.detail(
      wasSent ? `Uploaded ${bytes(packed.sizeBytes)} in ${took}.` : "The package was stored already.",
    );
  }
  return deployments.createDeployment({ digest: packed.digest, environment, redeploy: options.redeploy });
}

async function printDeployment(deployment: Deployment): Promise<void> {
  const { DeploymentSchema } = await import("../../proto/svc/v1/deployment_pb.ts");
  await printJson(DeploymentSchema, deployment);
}

function nextSteps({ agents, workflows, webhooks, environment }: Deployment): string[] {
  const elsewhere = environment === "production" ? "" : ` --environment ${environment}`;
  const [first] = [...agents, ...workflows];
  return [
    ...(first === undefined ? [] : [`svc run ${first.name}${elsewhere}`]),
    ...(webhooks.length === 0 ? [] : [`svc webhook list --verbose${elsewhere}`]),
    `svc logs --follow${elsewhere}`,
  ];
}
