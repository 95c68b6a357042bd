import { connect } from "../api/connection.ts";
import { type Command, command } from "../app/command.ts";
import { integer } from "../app/option-values.ts";
import { environment, target, targetOf, verbose } from "../app/options.ts";
import { print } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { logFormatter } from "../views/log-entry.ts";
import { printMessageLine } from "../views/result.ts";

const maxLines = 10_000;

export default command({
  details: "Prints the entries of agents, workflows and the executor, oldest first.",
  args: {
    follow: { type: "boolean", alias: "f", description: "Follow the log until Ctrl-C" },
    lines: {
      type: "string",
      alias: "n",
      valueHint: "n",
      default: "100",
      description: `Number of last entries, 0 to ${maxLines}`,
      parse: integer(0, maxLines),
    },
    ...target,
    execution: { type: "string", valueHint: "id", description: "Filter by execution" },
    audit: { type: "boolean", description: "Print only the audit log" },
    ...environment,
    json: { type: "boolean", description: "Print each entry as one line of JSON" },
    verbose: { ...verbose.verbose, description: "Also print dates, sources and IDs" },
  },
  examples: [["svc logs --follow --agent triage", "Follow the log of one agent"]],
  async run(values) {
    const filter = {
      name: targetOf(values).name,
      executionId: values.execution ?? "",
      environment: values.environment ?? "",
      audit: values.audit,
    };
    const executions = await connect("executions", values);
    const { readResumableStream } = await import("../api/resumable-stream.ts");
    const format = logFormatter(process.stdout, { full: values.verbose });
    let cursor = "";
    let isEmpty = true;
    if (values.follow && values.lines === 0) {
      // The present end of the log, so that a reconnection does not miss entries.
      for await (const { log } of executions.tailLogs({ ...filter, lines: 1 })) cursor = log?.cursor ?? "";
    }
    let lines = values.lines;
    await readResumableStream({
      connect() {
        // Without a cursor, a reconnection requests all entries, since every one is new.
        const start = cursor !== "" ? { after: cursor } : { lines };
        lines = maxLines;
        return executions.tailLogs({ ...filter, follow: values.follow, ...start });
      },
      async onMessage({ log }) {
        if (log === undefined) return;
        cursor = log.cursor;
        isEmpty = false;
        if (values.json) await printMessageLine(log);
        else print(format(log));
      },
      isOver: () => !values.follow,
      maxOutageMs: Number.POSITIVE_INFINITY,
    });
    if (isEmpty && !values.json) report.line("No log entries found.");
  },
}) as Command;
