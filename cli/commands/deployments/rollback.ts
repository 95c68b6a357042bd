import { activeDeployment } from "../../api/active-deployment.ts";
import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError } from "../../app/errors.ts";
import { json, verbose } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { cleanLine } from "../../terminal/format.ts";
import { print, printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { sayPlan } from "../../views/changes.ts";
import { deployedText } from "../../views/deployment.ts";

const rollback: Command = command({
  about:
    "Code, webhooks, mappings and schedules switch back together. Executions that are running finish on the\ndeployment that they began on.",
  args: {
    "deployment-id": { type: "positional", description: "The deployment to go back to" },
    force: { type: "boolean", description: "Do not ask" },
    ...json,
    verbose: { ...verbose.verbose, description: "Also every file that changes" },
  },
  async run(values) {
    const deployments = await openConnection(values).client("deployments");
    const deploymentId = values["deployment-id"];
    const wanted = await deployments.getDeployment({ deploymentId, includeFiles: true });
    if (wanted.status === "active") {
      throw new CliError(`${deploymentId} is active already.`, "`svc deployments list` shows the others.");
    }
    const active = await activeDeployment(deployments, wanted.project, wanted.environment);
    const what = cleanLine(`${wanted.project} ${wanted.version}`);
    if (!values.json) {
      const from = active === null ? "" : `, from ${cleanLine(active.version)}`;
      sayPlan(`Going back to ${what} in ${wanted.environment}${from}:`, active, wanted, values);
    }
    await confirm(`Roll ${wanted.environment} back?`, values);
    const deployment = await deployments.rollbackDeployment({ deploymentId });
    if (values.json) {
      const { DeploymentSchema } = await import("../../../proto/svc/v1/deployment_pb.ts");
      return printJson(DeploymentSchema, deployment);
    }
    say.done(`${what} is active again in ${deployment.environment}.`);
    print(deployedText(deployment));
  },
});

export default rollback;
