import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { deploymentId, json, verbose } from "../../app/options.ts";
import { deploymentText } from "../../views/deployment.ts";
import { printResource } from "../../views/result.ts";

export default command({
  args: {
    ...deploymentId,
    ...json,
    verbose: { ...verbose.verbose, description: "Also print packaged files and field mappings" },
  },
  async run(values) {
    const deployment = await (await connect("deployments", values)).getDeployment({
      deploymentId: values["deployment-id"],
      includeFiles: values.verbose,
    });
    await printResource(deployment, values, () => deploymentText(deployment, values));
  },
}) as Command;
