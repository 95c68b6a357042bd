import type { Execution } from "../../proto/svc/v1/execution_pb.ts";
import { environment, json, verbose } from "../arguments.ts";
import { type Command, command } from "../command.ts";
import { openConnection } from "../connection.ts";
import { Silent } from "../errors.ts";
import { outputOf } from "../execution-text.ts";
import { data, readInput } from "../input.ts";
import { logText } from "../log-text.ts";
import { print, printJson } from "../output.ts";
import { onInterruptDo } from "../process-events.ts";
import { say } from "../say.ts";
import { err } from "../style.ts";
import { cleanLine, duration, prettyJson } from "../text.ts";
import { elapsedMs } from "../times.ts";

/** How long the service may be out of reach while an execution is followed, in ms. */
const patienceMs = 120_000;

const run: Command = command({
  about:
    "Shows the log on standard error while it runs, then prints the output as JSON on standard output. Exits with 1\nwhen the execution fails. Ctrl-C detaches: the execution goes on.",
  args: {
    name: { type: "positional", description: "The agent or workflow" },
    ...data,
    detach: { type: "boolean", description: "Print the execution's id and do not wait" },
    kind: {
      type: "enum",
      options: ["agent", "workflow"],
      valueHint: "kind",
      description: "Say which is meant",
    },
    environment: { ...environment.environment, description: "Run what is deployed to this environment" },
    json: { ...json.json, description: "Print the whole execution as JSON instead of its output" },
    ...verbose,
  },
  examples: [
    ["svc run triage --data issue.json", "With an input from a file"],
    ['echo \'{"title": "Hi"}\' | svc run triage --data -', "From standard input"],
  ],
  async run(values) {
    const connection = openConnection(values);
    const input = await readInput(values.data);
    const executions = await connection.client("executions");
    const { ExecutionSchema } = await import("../../proto/svc/v1/execution_pb.ts");
    let execution: Execution = await executions.runExecution({
      name: values.name,
      kind: values.kind ?? "",
      input,
      environment: values.environment ?? "",
    });
    const { executionId } = execution;
    if (values.detach) {
      return values.json ? printJson(ExecutionSchema, execution) : print(executionId);
    }
    if (values.verbose) say.detail(`Execution ${executionId}`);

    const { follow } = await import("../follow.ts");
    let cursor = "";
    const isOver = (): boolean => !["queued", "running"].includes(execution.status);
    await onInterruptDo(
      () => detach(executionId),
      () =>
        follow({
          connect: () => executions.watchExecution({ executionId, after: cursor }),
          onMessage({ event }) {
            if (event.case === "log") {
              cursor = event.value.cursor;
              say.line(logText(event.value, err, { full: values.verbose }));
            } else if (event.case === "execution") {
              announceRetry(execution, event.value);
              execution = event.value;
            }
          },
          isOver,
          patienceMs,
        }),
    );

    if (values.json) await printJson(ExecutionSchema, execution);
    else if (execution.status === "succeeded") print(prettyJson(await outputOf(execution)));
    if (execution.status !== "succeeded") reportFailure(execution);
    const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
    if (values.verbose && tookMs !== null) say.detail(`Took ${duration(tookMs)}.`);
  },
});

function detach(executionId: string): void {
  say.line(`\nDetached; the execution goes on.`);
  say.hint(`\`svc executions show ${executionId}\` shows what became of it.`);
  process.exit(130);
}

function announceRetry(before: Execution, now: Execution): void {
  if (now.status === "queued" && now.error !== undefined && now.attempt > before.attempt) {
    const { name, message } = now.error;
    say.warning(
      `Attempt ${before.attempt} failed, it will be tried again: ${cleanLine(`${name}: ${message}`)}`,
    );
  }
}

function reportFailure(execution: Execution): never {
  const { executionId, error, status, name } = execution;
  const why = error === undefined ? "" : `: ${cleanLine(`${error.name}: ${error.message}`)}`;
  say.error(
    status === "cancelled" ? `${name} was cancelled.` : `${name} failed${why}`,
    [],
    `\`svc executions show ${executionId}\` shows the stack and the input.`,
  );
  throw new Silent(1);
}

export default run;
