import { activeDeployment } from "../../api/active-deployment.ts";
import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError } from "../../app/errors.ts";
import { deploymentId, force, json, verbose } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { printActivated, reportPlan } from "../../views/plan.ts";

export default command({
  details:
    "Code, webhooks, field mappings and schedules switch together. Running executions finish on the deployment on which they started.",
  args: {
    ...deploymentId,
    ...force,
    ...json,
    verbose: { ...verbose.verbose, description: "Also list every changed file" },
  },
  async run(values) {
    const deployments = await connect("deployments", values);
    const id = values["deployment-id"];
    const target = await deployments.getDeployment({ deploymentId: id, includeFiles: true });
    if (target.status === "active") {
      throw new CliError(`${id} is already active.`, "Run `svc deployments list` to see all deployments.");
    }
    const { environment } = target;
    const active = await activeDeployment(deployments, target.project, environment);
    const label = sanitizeLine(`${target.project} ${target.version}`);
    if (!values.json) {
      const from = active === null ? "" : ` from ${sanitizeLine(active.version)}`;
      reportPlan(`Roll back ${environment}${from} to ${label}:`, active, target, values);
    }
    await confirm(`Roll back ${environment}?`, values);
    const deployment = await deployments.rollbackDeployment({ deploymentId: id });
    await printActivated(deployment, values, `Rolled back ${environment} to ${label}.`);
  },
}) as Command;
