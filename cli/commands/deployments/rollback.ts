import { json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { confirm } from "../../confirm.ts";
import { openConnection } from "../../connection.ts";
import { deployedText } from "../../deployment-text.ts";
import { CliError } from "../../errors.ts";
import { print, printJson } from "../../output.ts";
import { activeDeployment } from "../../plan/active.ts";
import { sayPlan } from "../../plan/text.ts";
import { say } from "../../say.ts";
import { cleanLine } from "../../text.ts";

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
