import { openConnection } from "../api/connection.ts";
import { ago } from "../api/timestamps.ts";
import { type Command, command } from "../app/command.ts";
import { Silent } from "../app/errors.ts";
import { environment, json, verbose } from "../app/options.ts";
import { out } from "../terminal/colors.ts";
import { cleanLine, count, duration, prettyJson } from "../terminal/format.ts";
import { print, toRestJson } from "../terminal/output.ts";
import { fields, indent, table } from "../terminal/table.ts";
import { paintedStatus, statusCell } from "../views/status.ts";

const status: Command = command({
  about: "Exits with 1 when the service is not well.",
  args: {
    ...environment,
    ...json,
    verbose: {
      ...verbose.verbose,
      description: "Also the single checks, the versions and the latest executions",
    },
  },
  async run(values) {
    const connection = openConnection(values);
    const selected = values.environment ?? "";
    const startedAt = performance.now();
    const health = await (await connection.client("health")).check({});
    const tookMs = performance.now() - startedAt;
    const [organization, { deployments }, { executions }] = await Promise.all([
      (await connection.client("organization")).getOrganization({}),
      (await connection.client("deployments")).listDeployments({
        status: "active",
        environment: selected,
        pageSize: 100,
      }),
      (await connection.client("executions")).listExecutions({ environment: selected, pageSize: 5 }),
    ]);

    if (values.json) {
      const [{ CheckResponseSchema }, { OrganizationSchema }, { DeploymentSchema }, { ExecutionSchema }] =
        await Promise.all([
          import("../../proto/svc/v1/health_pb.ts"),
          import("../../proto/svc/v1/organization_pb.ts"),
          import("../../proto/svc/v1/deployment_pb.ts"),
          import("../../proto/svc/v1/execution_pb.ts"),
        ]);
      print(
        prettyJson({
          base_url: connection.baseUrl,
          health: await toRestJson(CheckResponseSchema, health),
          organization: await toRestJson(OrganizationSchema, organization),
          deployments: await Promise.all(deployments.map((one) => toRestJson(DeploymentSchema, one))),
          executions: await Promise.all(executions.map((one) => toRestJson(ExecutionSchema, one))),
        }),
      );
    } else {
      print(
        fields([
          ["service", `${connection.baseUrl}  ${paintedStatus(health.status)}`],
          ["organization", `${cleanLine(organization.name)} (${organization.orgId})`],
          ["version", values.verbose ? `${health.version} on ${health.runtime}` : ""],
          ["answered in", values.verbose ? duration(tookMs) : ""],
        ]),
      );
      if (values.verbose || health.status !== "ok") {
        const { store = "", storage = "", executor = "", scheduler = "" } = health.checks ?? {};
        const checks = fields([
          ["store", paintedStatus(store)],
          ["storage", paintedStatus(storage)],
          ["executor", paintedStatus(executor)],
          ["scheduler", paintedStatus(scheduler)],
        ]);
        print(`\n${out.bold("Checks")}\n${indent(checks)}`);
      }
      print(`\n${out.bold("Deployed")}`);
      if (deployments.length === 0) print("  nothing yet; `svc push` deploys a project");
      else {
        const rows = deployments.map((one) => [
          cleanLine(one.project),
          cleanLine(one.version),
          one.environment,
          one.deploymentId,
          ago(one.activatedAt),
          [
            count(one.agents.length, "agent"),
            count(one.workflows.length, "workflow"),
            count(one.webhooks.length, "webhook"),
            count(one.schedules.length, "schedule"),
          ].join(", "),
        ]);
        print(table(["PROJECT", "VERSION", "ENVIRONMENT", "DEPLOYMENT", "SINCE", "WITH"], rows, "  "));
      }
      if (values.verbose && executions.length > 0) {
        const rows = executions.map((one) => [
          one.executionId,
          statusCell(one.status),
          one.name,
          ago(one.createdAt),
        ]);
        print(`\n${out.bold("Latest executions")}`);
        print(table(["ID", "STATUS", "NAME", "CREATED"], rows, "  "));
      }
    }
    if (health.status !== "ok") throw new Silent(1);
  },
});

export default status;
