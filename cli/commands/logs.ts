import { openConnection } from "../api/connection.ts";
import { timestampOf } from "../api/timestamps.ts";
import { type Command, command } from "../app/command.ts";
import { integer, resourceId } from "../app/option-values.ts";
import { environment, since, target, targetOf, verbose } from "../app/options.ts";
import { print } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { logFormatter } from "../views/log-entry.ts";
import { printMessageLine } from "../views/result.ts";

const maxLines = 10_000;
/** For how long a reading without `--follow` tries to continue after a broken connection. */
const maxOutageMs = 30_000;
const defaultLines = 100;

export default command({
  details: "Prints the entries of agents, workflows and the executor, oldest first.",
  args: {
    follow: { type: "boolean", alias: "f", description: "Follow the log until Ctrl-C" },
    lines: {
      type: "string",
      alias: "n",
      valueHint: "n",
      description: `Number of last entries, 0 to ${maxLines} (default: ${defaultLines}, or all with --since)`,
      parse: integer(0, maxLines),
    },
    ...target,
    execution: {
      type: "string",
      valueHint: "id",
      description: "Filter by execution, with its child executions",
      parse: resourceId("exe"),
    },
    "no-children": { type: "boolean", description: "With --execution: leave out child executions" },
    ...since,
    level: {
      type: "enum",
      options: ["debug", "info", "warn", "error"],
      valueHint: "level",
      description: "Filter by level: this one and more severe ones",
    },
    grep: {
      type: "string",
      valueHint: "text",
      description: "Filter by a part of the text or of the fields; case matters",
    },
    field: {
      type: "string",
      multiple: true,
      valueHint: "name=value",
      description: "Filter by a field of structured entries; up to 4 times",
    },
    audit: { type: "boolean", description: "Print only the audit log" },
    ...environment,
    json: { type: "boolean", description: "Print each entry as one line of JSON" },
    verbose: { ...verbose.verbose, description: "Also print dates, sources and IDs" },
  },
  examples: [
    ["svc logs --follow --agent triage", "Follow the log of one agent"],
    ["svc logs --since 1h --level warn", "Print the warnings and errors of the last hour"],
    ["svc logs --field order=17 --json", "Print structured entries of one order"],
  ],
  async run(values) {
    const withChildren = values.execution !== undefined && !values["no-children"];
    const filter = {
      name: targetOf(values).name,
      executionId: values.execution ?? "",
      includeChildren: withChildren,
      since: timestampOf(values.since),
      level: values.level ?? "",
      contains: values.grep ?? "",
      fields: [...values.field],
      environment: values.environment ?? "",
      audit: values.audit,
    };
    const connection = openConnection(values);
    const executions = await connection.client("executions");
    const { readResumableStream } = await import("../api/resumable-stream.ts");
    const format = logFormatter(process.stdout, {
      full: values.verbose,
      showsExecution: withChildren,
      showsEnvironment: values.environment === undefined && !connection.baseUrl.includes("/env/"),
    });
    let cursor = "";
    let isEmpty = true;
    if (values.follow && values.lines === 0) {
      // The present end of the log, so that a reconnection does not miss entries.
      for await (const { log } of executions.tailLogs({ ...filter, lines: 1 })) cursor = log?.cursor ?? "";
    }
    let lines = values.lines ?? (values.since === undefined ? defaultLines : undefined);
    await readResumableStream({
      connect() {
        // Without a cursor, a reconnection requests all entries, since every one is new.
        const start = cursor !== "" ? { after: cursor } : lines === undefined ? {} : { lines };
        if (values.follow && lines !== undefined) lines = maxLines;
        return executions.tailLogs({ ...filter, follow: values.follow, ...start });
      },
      async onMessage({ log, executionsOmitted }) {
        if (executionsOmitted)
          report.warning("There are too many child executions: entries of later ones are left out.");
        if (log === undefined) return;
        cursor = log.cursor;
        isEmpty = false;
        if (values.json) await printMessageLine(log);
        else print(format(log));
      },
      isOver: (isBroken) => !values.follow && !isBroken,
      maxOutageMs: values.follow ? Number.POSITIVE_INFINITY : maxOutageMs,
    });
    if (isEmpty && !values.json) report.line("No log entries found.");
  },
}) as Command;
