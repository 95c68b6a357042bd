import { openConnection } from "../../api/connection.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { environment, integer, json, limit, verbose } from "../../app/options.ts";
import { bytes, cleanLine } from "../../terminal/format.ts";
import { print, printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { table } from "../../terminal/table.ts";
import { statusCell } from "../../views/status.ts";

const list: Command = command({
  args: {
    ...limit,
    status: {
      type: "enum",
      options: ["pending", "active", "superseded", "failed", "deleted"],
      valueHint: "status",
      description: "Only those in one state",
    },
    project: { type: "string", valueHint: "name", description: "Only those of one project" },
    ...environment,
    ...json,
    ...verbose,
  },
  async run(values) {
    const pageSize = integer(values.limit, "--limit", 1, 1000);
    const deployments = await openConnection(values).client("deployments");
    const page = await deployments.listDeployments({
      status: values.status ?? "",
      project: values.project ?? "",
      environment: values.environment ?? "",
      pageSize,
    });
    if (values.json) {
      const { ListDeploymentsResponseSchema } = await import("../../../proto/svc/v1/deployment_pb.ts");
      return printJson(ListDeploymentsResponseSchema, page);
    }
    if (page.deployments.length === 0) {
      say.line("No deployments found.");
      return say.hint("Deploy a project with `svc push`; `svc init` writes one.");
    }
    const rows = page.deployments.map((deployment) => [
      deployment.deploymentId,
      statusCell(deployment.status),
      cleanLine(deployment.project),
      cleanLine(deployment.version),
      deployment.environment,
      bytes(deployment.sizeBytes),
      ago(deployment.createdAt),
    ]);
    print(table(["ID", "STATUS", "PROJECT", "VERSION", "ENVIRONMENT", "SIZE", "PUSHED"], rows));
    if (page.nextPageToken !== "")
      say.hint(`There are more; raise --limit (${pageSize}) or narrow the list.`);
  },
});

export default list;
