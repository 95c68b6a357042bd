import { openConnection } from "../../api/connection.ts";
import { ago, elapsedMs } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import {
  environment,
  integer,
  json,
  limit,
  since,
  sinceOption,
  target,
  targetOf,
  verbose,
} from "../../app/options.ts";
import { duration } from "../../terminal/format.ts";
import { print, printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { table } from "../../terminal/table.ts";
import { statusCell } from "../../views/status.ts";

const list: Command = command({
  args: {
    ...limit,
    status: {
      type: "enum",
      options: ["queued", "running", "succeeded", "failed", "cancelled"],
      valueHint: "status",
      description: "Only those in one state",
    },
    ...target,
    ...sinceOption,
    ...environment,
    ...json,
    ...verbose,
  },
  examples: [
    ["svc executions --status failed --since 1d", "What failed in the last day"],
    ["svc executions --agent triage --json", "For a program"],
  ],
  async run(values) {
    const pageSize = integer(values.limit, "--limit", 1, 1000);
    const from = values.since === undefined ? undefined : since(values.since);
    const { kind, name } = targetOf(values);
    const connection = openConnection(values);
    const executions = await connection.client("executions");
    const [{ ListExecutionsResponseSchema }, { timestampFromDate }] = await Promise.all([
      import("../../../proto/svc/v1/execution_pb.ts"),
      import("@bufbuild/protobuf/wkt"),
    ]);
    const page = await executions.listExecutions({
      status: values.status ?? "",
      name,
      kind,
      environment: values.environment ?? "",
      pageSize,
      ...(from !== undefined && { since: timestampFromDate(from) }),
    });
    if (values.json) return printJson(ListExecutionsResponseSchema, page);
    if (page.executions.length === 0) {
      say.line("No executions found.");
      return say.hint("Start one with `svc run <name> --data <file>`, or by a webhook.");
    }
    const rows = page.executions.map((execution) => {
      const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
      return [
        execution.executionId,
        statusCell(execution.status),
        execution.name,
        execution.trigger,
        ago(execution.createdAt),
        tookMs === null ? "" : duration(tookMs),
      ];
    });
    print(table(["ID", "STATUS", "NAME", "TRIGGER", "CREATED", "TOOK"], rows));
    if (page.nextPageToken !== "")
      say.hint(`There are more; raise --limit (${pageSize}) or narrow the list.`);
  },
});

export default list;
