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

const promote: Command = command({
  about: "Deploys the very package of a deployment to another environment. Nothing is packaged or uploaded.",
  args: {
    "deployment-id": { type: "positional", description: "The deployment whose package to deploy" },
    environment: {
      type: "positional",
      required: false,
      default: "production",
      description: "Where to",
    },
    force: { type: "boolean", description: "Do not ask" },
    ...json,
    verbose: { ...verbose.verbose, description: "Also every file that changes" },
  },
  examples: [["svc deployments promote <deployment-id>", "From staging to production"]],
  async run(values) {
    const deployments = await openConnection(values).client("deployments");
    const { environment } = values;
    const wanted = await deployments.getDeployment({
      deploymentId: values["deployment-id"],
      includeFiles: true,
    });
    const active = await activeDeployment(deployments, wanted.project, environment);
    const what = cleanLine(`${wanted.project} ${wanted.version}`);
    if (active?.digest === wanted.digest) {
      throw new CliError(
        `The package of ${wanted.deploymentId} is active in ${environment} already, as ${active.deploymentId}.`,
        "Name another environment.",
      );
    }
    if (!values.json) {
      sayPlan(`${what} → ${environment}, from ${wanted.environment}`, active, wanted, values);
    }
    await confirm(`Promote to ${environment}?`, values);
    const deployment = await deployments.createDeployment({
      sourceDeploymentId: wanted.deploymentId,
      digest: wanted.digest,
      environment,
    });
    if (values.json) {
      const { DeploymentSchema } = await import("../../../proto/svc/v1/deployment_pb.ts");
      return printJson(DeploymentSchema, deployment);
    }
    say.done(`Promoted ${what} to ${environment}.`);
    print(deployedText(deployment));
  },
});

export default promote;
