import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { deploymentId, force, output } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { contentsOf } from "../../terminal/format.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { printMessage } from "../../views/result.ts";

export default command({
  details: "Webhooks of a deleted deployment return 410. Running executions finish.",
  args: { ...deploymentId, ...force, ...output },
  async run(values) {
    const deployments = await connect("deployments", values);
    const id = values["deployment-id"];
    const deployment = await deployments.getDeployment({ deploymentId: id });
    const isActive = deployment.status === "active";
    const label = sanitizeLine(`${deployment.project} ${deployment.version} (${deployment.environment})`);
    if (isActive && !values.json) {
      report.warning(`This deployment is active. Deleting it stops ${contentsOf(deployment)}.`);
    }
    await confirm(`Delete ${label}?`, values);
    // The confirmation does not cover a deployment that has become active since then.
    const deleted = await deployments.deleteDeployment({ deploymentId: id, force: isActive });
    if (values.json) return printMessage(deleted);
    report.success(`Deleted ${id}, ${label}.`);
  },
}) as Command;
