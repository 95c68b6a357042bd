import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { cleanLine, count } from "../../terminal/format.ts";
import { printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";

const remove: Command = command({
  about: "The webhooks of a deleted deployment answer 410. Executions that are running finish.",
  args: {
    "deployment-id": { type: "positional", description: "The deployment, `dep_` and 26 characters" },
    force: { type: "boolean", description: "Do not ask" },
    ...json,
    ...verbose,
  },
  async run(values) {
    const deployments = await openConnection(values).client("deployments");
    const deploymentId = values["deployment-id"];
    const deployment = await deployments.getDeployment({ deploymentId });
    const what = cleanLine(`${deployment.project} ${deployment.version} (${deployment.environment})`);
    if (deployment.status === "active" && !values.json) {
      const { agents, workflows, webhooks, schedules } = deployment;
      const stops = [
        count(agents.length, "agent"),
        count(workflows.length, "workflow"),
        count(webhooks.length, "webhook"),
        count(schedules.length, "schedule"),
      ].join(", ");
      say.warning(`It is active. With it stop ${stops}; nothing takes their place.`);
    }
    await confirm(`Delete ${what}?`, values);
    // Whoever confirmed was told that it is active; one that became active since then is not deleted.
    const deleted = await deployments.deleteDeployment({
      deploymentId,
      force: deployment.status === "active",
    });
    if (values.json) {
      const { DeploymentSchema } = await import("../../../proto/svc/v1/deployment_pb.ts");
      return printJson(DeploymentSchema, deleted);
    }
    say.done(`Deleted ${deploymentId}, ${what}.`);
  },
});

export default remove;
