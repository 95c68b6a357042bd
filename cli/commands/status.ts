import { openConnection } from "../api/connection.ts";
import { ago } from "../api/timestamps.ts";
import { type Command, command } from "../app/command.ts";
import { Exit } from "../app/errors.ts";
import { environment, json, verbose } from "../app/options.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import type { Column } from "../terminal/columns.ts";
import { contentsOf, duration } from "../terminal/format.ts";
import { print, printJson } from "../terminal/output.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { fields, paragraphs, section, table } from "../terminal/table.ts";
import { warnOfExpiry } from "../views/api-key.ts";
import { toRestJson } from "../views/result.ts";
import { paintedStatus, statusCell } from "../views/status.ts";

const projectColumns: readonly Column[] = [
  { title: "PROJECT", role: "name" },
  { title: "ENVIRONMENT", role: "name" },
  "DEPLOYMENT",
  { title: "ACTIVATED", role: "extra" },
  { title: "CONTENTS", role: "detail" },
];
const executionColumns: readonly Column[] = [
  "ID",
  "STATUS",
  { title: "NAME", role: "name" },
  { title: "CREATED", role: "extra" },
];

export default command({
  details: "Exits with 1 when the service is degraded.",
  args: {
    ...environment,
    ...json,
    verbose: { ...verbose.verbose, description: "Also print health checks, versions and recent executions" },
  },
  async run(values) {
    const connection = openConnection(values);
    const filter = { environment: values.environment ?? "" };
    const startedAt = performance.now();
    const health = await (await connection.client("health")).check({});
    const responseMs = performance.now() - startedAt;
    const [organization, { deployments }, { executions }] = await Promise.all([
      (await connection.client("organization")).getOrganization({}),
      (await connection.client("deployments")).listDeployments({
        ...filter,
        status: "active",
        pageSize: 100,
      }),
      (await connection.client("executions")).listExecutions({ ...filter, pageSize: 5 }),
    ]);
    const isOk = health.status === "ok";
    if (values.json) {
      printJson({
        base_url: connection.baseUrl,
        health: await toRestJson(health),
        organization: await toRestJson(organization),
        deployments: await Promise.all(deployments.map(toRestJson)),
        executions: await Promise.all(executions.map(toRestJson)),
      });
    } else {
      const { store = "", storage = "", executor = "", scheduler = "" } = health.checks ?? {};
      const checks = Object.entries({ store, storage, executor, scheduler });
      const deployed = deployments.map((deployment) => [
        `${deployment.project} ${deployment.version}`,
        deployment.environment,
        deployment.deploymentId,
        ago(deployment.activatedAt),
        contentsOf(deployment),
      ]);
      const recent = executions.map(({ executionId, status, name, createdAt }) => {
        return [executionId, statusCell(status), name, ago(createdAt)];
      });
      print(
        paragraphs([
          fields([
            ["service", `${connection.baseUrl}  ${paintedStatus(health.status)}`],
            ["organization", `${sanitizeLine(organization.name)} (${organization.orgId})`],
            ["version", values.verbose ? `${health.version} on ${health.runtime}` : ""],
            ["response time", values.verbose ? duration(responseMs) : ""],
          ]),
          values.verbose || !isOk
            ? section("Checks", fields(checks.map(([name, status]) => [name, paintedStatus(status)])))
            : "",
          section(
            "Active deployments",
            deployed.length === 0
              ? `none; run ${colors.cyan("svc push")} to deploy a project`
              : table(projectColumns, deployed, 2),
          ),
          values.verbose && recent.length > 0
            ? section("Recent executions", table(executionColumns, recent, 2))
            : "",
        ]),
      );
    }
    if (!values.json) warnOfExpiry("The API key", health.keyExpiresAt);
    if (!isOk) throw new Exit(1);
  },
}) as Command;
