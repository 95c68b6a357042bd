import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { environment, limit, output, paging } from "../../app/options.ts";
import { printList } from "../../views/result.ts";
import { statusCell } from "../../views/status.ts";

export default command({
  args: {
    ...limit,
    ...paging,
    status: {
      type: "enum",
      options: ["pending", "active", "superseded", "failed", "deleted"],
      valueHint: "status",
      description: "Filter by status",
    },
    project: { type: "string", valueHint: "name", description: "Filter by project" },
    ...environment,
    ...output,
  },
  async run(values) {
    const { status = "", project = "", environment: name = "" } = values;
    const client = await connect("deployments", values);
    const page = await readPages(
      values,
      (request) => client.listDeployments({ status, project, environment: name, ...request }),
      (all, next) => all.deployments.push(...next.deployments),
    );
    const environments = new Set(page.deployments.map((deployment) => deployment.environment));
    await printList(page, values, {
      columns: [
        "ID",
        "STATUS",
        { title: "PROJECT", role: "name" },
        { title: "ENVIRONMENT", role: environments.size > 1 ? "name" : "extra" },
        "PUSHED",
      ],
      rows: page.deployments.map((deployment) => [
        deployment.deploymentId,
        statusCell(deployment.status),
        `${deployment.project} ${deployment.version}`,
        deployment.environment,
        ago(deployment.createdAt),
      ]),
      empty: ["No deployments found.", "Run `svc push` to deploy a project, or `svc init` to create one."],
    });
  },
}) as Command;
