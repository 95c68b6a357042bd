import type { Client } from "@connectrpc/connect";
import type { Execution, ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { CliError, Exit } from "../app/errors.ts";
import { withInterrupt } from "../app/signals.ts";
import { duration } from "../terminal/format.ts";
import { print, printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { outputOf } from "../views/execution.ts";
import { logFormatter } from "../views/log-entry.ts";
import { printMessage } from "../views/result.ts";
import { elapsedMs } from "./timestamps.ts";

const maxOutageMs = 120_000;

/**
 * Follows an execution to its end with its log on standard error, and prints its output, or all of it with `--json`.
 * With `--detach` it prints the ID and does not wait.
 *
 * @throws Exit with code 1 when the execution failed or was cancelled, after reporting it
 */
export async function followExecution(
  executions: Client<typeof ExecutionService>,
  started: Execution,
  options: { detach: boolean; json: boolean; verbose: boolean },
): Promise<void> {
  if (options.detach) return options.json ? printMessage(started) : print(started.executionId);
  if (options.verbose) report.detail(`Execution ${started.executionId}`);
  const execution = await waitForEnd(executions, started, options);
  if (options.json) await printMessage(execution);
  else if (execution.status === "succeeded") printJson(await outputOf(execution));
  if (execution.status !== "succeeded") reportFailure(execution);
  const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
  if (options.verbose && tookMs !== null) report.detail(`Took ${duration(tookMs)}.`);
}

async function waitForEnd(
  executions: Client<typeof ExecutionService>,
  started: Execution,
  options: { verbose: boolean },
): Promise<Execution> {
  const { readResumableStream } = await import("./resumable-stream.ts");
  const { executionId } = started;
  const format = logFormatter(process.stderr, { full: options.verbose });
  let execution = started;
  let cursor = "";
  const follow = (): Promise<void> =>
    readResumableStream({
      connect: () => executions.watchExecution({ executionId, after: cursor }),
      onMessage({ event }) {
        if (event.case === "log") {
          cursor = event.value.cursor;
          report.line(format(event.value));
        } else if (event.case === "execution") {
          execution = event.value;
        }
      },
      isOver: () => !["queued", "running"].includes(execution.status),
      maxOutageMs,
      // It has started the execution.
      isKnownToRun: true,
    });
  try {
    await withInterrupt(() => detach(executionId), follow);
  } catch (error) {
    const { toCliError } = await import("./error-messages.ts");
    const { advice, details, message } = toCliError(error);
    const next = `The execution may continue. Run \`svc executions show ${executionId}\` to see its result.`;
    throw new CliError(message, advice, { cause: error, details: [...details, next] });
  }
  return execution;
}

function detach(executionId: string): void {
  report.line("\nDetached. The execution continues.");
  report.hint(`Run \`svc executions show ${executionId}\` to see its result.`);
  process.exit(130);
}

function reportFailure({ executionId, error, status, name }: Execution): never {
  const reason = error === undefined ? "" : `: ${sanitizeLine(`${error.name}: ${error.message}`)}`;
  report.error(
    status === "cancelled" ? `${name} was cancelled.` : `${name} failed${reason}`,
    [],
    `Run \`svc executions show ${executionId}\` to see the stack and the input.`,
  );
  throw new Exit(1);
}
