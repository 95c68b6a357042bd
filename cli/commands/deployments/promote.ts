import { activeDeployment, activeEnvironments } from "../../api/active-deployment.ts";
import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError } from "../../app/errors.ts";
import { deploymentId, force, json, verbose } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { printActivated, reportPlan } from "../../views/plan.ts";

export default command({
  details: "The stored package is deployed. Nothing is packaged or uploaded.",
  args: {
    ...deploymentId,
    environment: {
      type: "positional",
      required: false,
      default: "production",
      description: "Environment to deploy to",
    },
    ...force,
    ...json,
    verbose: { ...verbose.verbose, description: "Also list every changed file" },
  },
  examples: [["svc deployments promote <deployment-id>", "Promote from staging to production"]],
  async run(values) {
    const deployments = await connect("deployments", values);
    const { environment } = values;
    const source = await deployments.getDeployment({
      deploymentId: values["deployment-id"],
      includeFiles: true,
    });
    const active = await activeDeployment(deployments, source.project, environment);
    if (active?.digest === source.digest) {
      throw new CliError(
        `The package of ${source.deploymentId} is already active in ${environment}, as ${active.deploymentId}.`,
        "Choose another environment.",
      );
    }
    const label = sanitizeLine(`${source.project} ${source.version}`);
    if (!values.json) {
      const others = active === null ? await activeEnvironments(deployments) : [environment];
      if (!others.includes(environment)) {
        report.warning(
          `The environment ${environment} is new. Others: ${others.map(sanitizeLine).join(", ")}.`,
        );
      }
      reportPlan(`Promote ${label} from ${source.environment} to ${environment}:`, active, source, values);
    }
    await confirm(`Promote to ${environment}?`, values);
    const deployment = await deployments.createDeployment({
      sourceDeploymentId: source.deploymentId,
      digest: source.digest,
      environment,
    });
    await printActivated(deployment, values, `Promoted ${label} to ${environment}.`);
  },
}) as Command;
