import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { ago, elapsedMs, timestampOf } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { UsageError } from "../../app/errors.ts";
import { type Parser, pastTime } from "../../app/option-values.ts";
import { environment, limit, output, paging, since, target, targetOf } from "../../app/options.ts";
import { duration } from "../../terminal/format.ts";
import { printList } from "../../views/result.ts";
import { statusCell } from "../../views/status.ts";

export default command({
  args: {
    ...limit,
    ...paging,
    status: {
      type: "enum",
      options: ["queued", "running", "succeeded", "failed", "cancelled"],
      valueHint: "status",
      description: "Filter by status",
    },
    ...target,
    alerts: {
      type: "boolean",
      description: "Only alerts: requests to the webhook of on_failure",
    },
    trigger: {
      type: "enum",
      options: ["webhook", "schedule", "run", "replay", "child", "failure"],
      valueHint: "trigger",
      description: "Filter by trigger",
    },
    ...since,
    until: {
      type: "string",
      valueHint: "time",
      description: "Filter by time, up to: 30m, 2h, 7d or RFC 3339",
      parse: pastTime as Parser<Date>,
    },
    grep: {
      type: "string",
      valueHint: "text",
      description: "Filter by a part of the ID, of the error or of the input; case matters",
    },
    ...environment,
    ...output,
  },
  examples: [
    ["svc executions --status failed --since 1d", "List failed executions of the last day"],
    [
      "svc executions --trigger webhook --grep order-17",
      "Find the executions that webhooks started for an order",
    ],
    ["svc executions --alerts --status failed", "List alerts that could not be sent"],
    ["svc executions --agent triage --json", "Print the executions of one agent as JSON"],
  ],
  async run(values) {
    checkFilters(values);
    const filter = {
      ...targetOf(values),
      ...(values.alerts && { kind: "alert" }),
      status: values.status ?? "",
      trigger: values.trigger ?? "",
      contains: values.grep ?? "",
      since: timestampOf(values.since),
      until: timestampOf(values.until),
      environment: values.environment ?? "",
    };
    const client = await connect("executions", values);
    const page = await readPages(
      values,
      (request) => client.listExecutions({ ...filter, ...request }),
      (all, next) => all.executions.push(...next.executions),
      (all) => all.executions.length,
    );
    const hasFilter = Object.values(filter).some((value) => value !== "" && value !== undefined);
    const environments = new Set(page.executions.map((execution) => execution.environment));
    const showsEnvironment = environments.size > 1;
    await printList(page, values, {
      columns: [
        "ID",
        "STATUS",
        { title: "NAME", role: "name" },
        ...(showsEnvironment ? [{ title: "ENVIRONMENT", role: "name" } as const] : []),
        { title: "CREATED", role: "extra" },
        { title: "TRIGGER", role: "extra" },
        { title: "TOOK", role: "extra" },
      ],
      rows: page.executions.map((execution) => {
        const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
        return [
          execution.executionId,
          statusCell(execution.status),
          execution.name,
          ...(showsEnvironment ? [execution.environment] : []),
          ago(execution.createdAt),
          execution.trigger,
          tookMs === null ? "" : duration(tookMs),
        ];
      }),
      empty: [
        `No executions found${values.environment === undefined ? "" : ` in ${values.environment}`}.`,
        hasFilter ? "Remove a filter." : "Run `svc run <name> --data <file>` or send a request to a webhook.",
      ],
    });
  },
}) as Command;

interface Filters {
  alerts: boolean;
  agent: string | undefined;
  workflow: string | undefined;
  trigger: string | undefined;
  since: Date | undefined;
  until: Date | undefined;
}

/** @throws UsageError for filters that no execution matches together */
function checkFilters({ alerts, agent, workflow, trigger, since, until }: Filters): void {
  if (alerts) {
    const other = agent !== undefined ? "--agent" : workflow !== undefined ? "--workflow" : null;
    if (other !== null) {
      throw new UsageError(`--alerts and ${other} exclude each other.`, "Pass only one of them.");
    }
    if (trigger !== undefined && trigger !== "failure") {
      throw new UsageError(
        `--alerts and --trigger ${trigger} exclude each other.`,
        "The trigger of alerts is failure. Remove --trigger.",
      );
    }
  }
  if (since !== undefined && until !== undefined && until.getTime() <= since.getTime()) {
    throw new UsageError(
      "--until must be later than --since.",
      "Example: --since 20m --until 10m lists the executions of 20 to 10 minutes ago.",
    );
  }
}
