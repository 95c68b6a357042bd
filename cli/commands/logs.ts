import { openConnection } from "../api/connection.ts";
import { type Command, command } from "../app/command.ts";
import { environment, integer, target, targetOf, verbose } from "../app/options.ts";
import { out } from "../terminal/colors.ts";
import { print, printJsonLine } from "../terminal/output.ts";
import { say } from "../terminal/report.ts";
import { logPrinter } from "../views/log-entry.ts";

const logs: Command = command({
  about: "What agents and workflows wrote, with webhook calls and deployments in between. Oldest first.",
  args: {
    follow: { type: "boolean", alias: "f", description: "Go on with the lines that come; Ctrl-C ends it" },
    lines: {
      type: "string",
      alias: "n",
      valueHint: "n",
      default: "100",
      description: "How many of the last lines, 0 to 10000",
    },
    ...target,
    execution: { type: "string", valueHint: "id", description: "Only those of one execution" },
    audit: {
      type: "boolean",
      description: "The audit trail alone: who pushed, rolled back, deleted, created and revoked",
    },
    ...environment,
    json: { type: "boolean", description: "Print each line as a JSON object on a line of its own" },
    verbose: { ...verbose.verbose, description: "Also dates, sources and ids" },
  },
  examples: [["svc logs --follow --agent triage", "What one agent does, as it happens"]],
  async run(values) {
    const lines = integer(values.lines, "--lines", 0, 10_000);
    const { name } = targetOf(values);
    const executions = await openConnection(values).client("executions");
    const [{ LogLineSchema }, { follow }] = await Promise.all([
      import("../../proto/svc/v1/execution_pb.ts"),
      import("../api/resumable-stream.ts"),
    ]);
    const selection = {
      name,
      executionId: values.execution ?? "",
      environment: values.environment ?? "",
      audit: values.audit,
    };
    const text = logPrinter(out, { full: values.verbose });
    let cursor = "";
    let shown = 0;
    if (values.follow && lines === 0) {
      // Where the log ends now: after a break, the lines since then are still to be shown.
      for await (const { log } of executions.tailLogs({ ...selection, lines: 1 })) cursor = log?.cursor ?? "";
    }
    let isFirst = true;
    await follow({
      connect() {
        // After a break, what comes after the last line that was shown; without any, all there is, as it is all new.
        const from = cursor !== "" ? { after: cursor } : { lines: isFirst ? lines : 10_000 };
        isFirst = false;
        return executions.tailLogs({ ...selection, follow: values.follow, ...from });
      },
      async onMessage({ log }) {
        if (log === undefined) return;
        cursor = log.cursor;
        shown += 1;
        if (values.json) await printJsonLine(LogLineSchema, log);
        else print(text(log));
      },
      isOver: () => !values.follow,
      patienceMs: Number.POSITIVE_INFINITY,
    });
    if (shown === 0 && !values.json) say.line("No log lines found.");
  },
});

export default logs;
