import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { ago, elapsedMs, timestampOf } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
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
    ...since,
    ...environment,
    ...output,
  },
  examples: [
    ["svc executions --status failed --since 1d", "List failed executions of the last day"],
    ["svc executions --alerts --status failed", "List alerts that could not be sent"],
    ["svc executions --agent triage --json", "Print the executions of one agent as JSON"],
  ],
  async run(values) {
    const filter = {
      ...targetOf(values),
      ...(values.alerts && { kind: "alert" }),
      status: values.status ?? "",
      since: timestampOf(values.since),
      environment: values.environment ?? "",
    };
    const client = await connect("executions", values);
    const page = await readPages(
      values,
      (request) => client.listExecutions({ ...filter, ...request }),
      (all, next) => all.executions.push(...next.executions),
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
