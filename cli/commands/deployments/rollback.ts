import type { Deployment } from "../../../proto/svc/v1/deployment_pb.ts";
import { activeDeployment } from "../../api/active-deployment.ts";
import { defaultEnvironment, openConnection } from "../../api/connection.ts";
import { previousDeployment } from "../../api/previous-deployment.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError, UsageError } from "../../app/errors.ts";
import { deploymentId, force, json, verbose } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { printActivated, reportPlan } from "../../views/plan.ts";

export default command({
  details:
    "Without an id, rolls back to the deployment that was active before. Code, webhooks, field mappings and schedules switch together. Running executions finish on the deployment on which they started.",
  args: {
    "deployment-id": {
      ...deploymentId["deployment-id"],
      required: false,
      description: "Deployment ID (default: the previously active deployment)",
    },
    project: {
      type: "string",
      valueHint: "name",
      description: "Project to roll back (default: the project in this folder, or the only one)",
    },
    environment: {
      type: "string",
      alias: "e",
      valueHint: "name",
      description: "Environment to roll back (default: that of SVC_BASE_URL, or production)",
    },
    ...force,
    ...json,
    verbose: { ...verbose.verbose, description: "Also list every changed file" },
  },
  examples: [
    ["svc deployments rollback", "Return to the previously active deployment"],
    ["svc deployments rollback --environment staging --yes", "Roll back staging without confirmation"],
  ],
  async run(values) {
    const connection = openConnection(values);
    const deployments = await connection.client("deployments");
    const typed = values["deployment-id"];
    if (typed !== undefined && (values.project ?? values.environment) !== undefined) {
      throw new UsageError(
        "A deployment id excludes --project and --environment, because it determines both.",
        "Pass either the id or the options.",
      );
    }
    const id =
      typed ??
      (
        await previousDeployment(
          deployments,
          values.project ?? (await (await import("../../project/load.ts")).currentProject()) ?? "",
          values.environment ?? defaultEnvironment(connection),
        )
      ).deploymentId;
    const target = await deployments.getDeployment({ deploymentId: id, includeFiles: true });
    if (target.status === "active") {
      throw new CliError(`${id} is already active.`, "Run `svc deployments list` to see all deployments.");
    }
    if (target.status !== "superseded") {
      throw new CliError(
        `Cannot roll back to ${id}: this deployment is ${target.status}.`,
        "Nothing was changed. Run `svc deployments list` to choose a superseded deployment.",
      );
    }
    const { environment } = target;
    const active = await activeDeployment(deployments, target.project, environment);
    const label = sanitizeLine(`${target.project} ${target.version}`);
    if (!values.json) {
      const from = active === null ? "" : `${pushed(active)} → `;
      const title = `Roll back ${sanitizeLine(target.project)} in ${environment}: ${from}${pushed(target)}`;
      reportPlan(title, active, target, values);
    }
    await confirm(`Roll back ${environment}?`, values);
    const deployment = await deployments.rollbackDeployment({ deploymentId: id });
    await printActivated(deployment, values, `Rolled back ${environment} to ${label}.`);
  },
}) as Command;

/** Versions are often the same, so deployments are told apart by ID and age. */
function pushed({ deploymentId: id, createdAt }: Deployment): string {
  return `${id} (${ago(createdAt)})`;
}
