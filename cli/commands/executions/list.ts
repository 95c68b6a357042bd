import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { ago, elapsedMs, timestampOf } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
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
      description: "Only before a time: 30m, 2h, 7d or RFC 3339",
      parse: pastTime as Parser<Date>,
    },
    grep: {
      type: "string",
      valueHint: "text",
      description: "Filter by a part of the ID, of the error or of the input",
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
    await printList(page, values, {
      columns: [
        "ID",
        "STATUS",
        { title: "NAME", role: "name" },
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
          ago(execution.createdAt),
          execution.trigger,
          tookMs === null ? "" : duration(tookMs),
        ];
      }),
      empty: [
        `No executions found${values.environment === undefined ? "" : ` in ${values.environment}`}.`,
        "Run `svc run <name> --data <file>` or send a request to a webhook.",
      ],
    });
  },
}) as Command;
