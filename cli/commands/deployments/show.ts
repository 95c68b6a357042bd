import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { print, printJson } from "../../terminal/output.ts";
import { deploymentText } from "../../views/deployment.ts";

const show: Command = command({
  args: {
    "deployment-id": { type: "positional", description: "The deployment, `dep_` and 26 characters" },
    ...json,
    verbose: { ...verbose.verbose, description: "Also every packaged file and every field mapping" },
  },
  async run(values) {
    const deployments = await openConnection(values).client("deployments");
    const deployment = await deployments.getDeployment({
      deploymentId: values["deployment-id"],
      includeFiles: values.verbose,
    });
    if (values.json) {
      const { DeploymentSchema } = await import("../../../proto/svc/v1/deployment_pb.ts");
      return printJson(DeploymentSchema, deployment);
    }
    print(deploymentText(deployment, { verbose: values.verbose }));
  },
});

export default show;
