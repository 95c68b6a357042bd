import type { Client } from "@connectrpc/connect";
import type { Execution, ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { Silent } from "../app/errors.ts";
import { onInterruptDo } from "../app/signals.ts";
import { err } from "../terminal/colors.ts";
import { cleanLine, duration, prettyJson } from "../terminal/format.ts";
import { print, printJson } from "../terminal/output.ts";
import { say } from "../terminal/report.ts";
import { outputOf } from "../views/execution.ts";
import { logPrinter } from "../views/log-entry.ts";
import { elapsedMs } from "./timestamps.ts";

/** How long the service may be out of reach while an execution is followed, in ms. */
const patienceMs = 120_000;

/**
 * Follows an execution to its end, with its log on standard error, and prints its output, or all of it as JSON.
 *
 * @throws Silent with exit code 1 when it failed or was cancelled; that has been said then
 */
export async function finishExecution(
  executions: Client<typeof ExecutionService>,
  started: Execution,
  options: { json: boolean; verbose: boolean },
): Promise<void> {
  if (options.verbose) say.detail(`Execution ${started.executionId}`);
  const execution = await followToEnd(executions, started, options);
  if (options.json) {
    const { ExecutionSchema } = await import("../../proto/svc/v1/execution_pb.ts");
    await printJson(ExecutionSchema, execution);
  } else if (execution.status === "succeeded") print(prettyJson(await outputOf(execution)));
  if (execution.status !== "succeeded") reportFailure(execution);
  const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
  if (options.verbose && tookMs !== null) say.detail(`Took ${duration(tookMs)}.`);
}

async function followToEnd(
  executions: Client<typeof ExecutionService>,
  started: Execution,
  options: { verbose: boolean },
): Promise<Execution> {
  const { follow } = await import("./resumable-stream.ts");
  const { executionId } = started;
  const text = logPrinter(err, { full: options.verbose });
  let execution = started;
  let cursor = "";
  const work = (): Promise<void> =>
    follow({
      connect: () => executions.watchExecution({ executionId, after: cursor }),
      onMessage({ event }) {
        if (event.case === "log") {
          cursor = event.value.cursor;
          say.line(text(event.value));
        } else if (event.case === "execution") {
          execution = event.value;
        }
      },
      isOver: () => !["queued", "running"].includes(execution.status),
      patienceMs,
    });
  await onInterruptDo(() => detach(executionId), work);
  return execution;
}

function detach(executionId: string): void {
  say.line("\nDetached; the execution goes on.");
  say.hint(`\`svc executions show ${executionId}\` shows what became of it.`);
  process.exit(130);
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
