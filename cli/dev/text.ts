/** Prints events for people. */
import type { Execution } from "../../proto/svc/v1/execution_pb.ts";
import { dateOf, elapsedMs } from "../api/timestamps.ts";
import { envFile } from "../local/env-file.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { duration } from "../terminal/format.ts";
import { print } from "../terminal/output.ts";
import { lineJson, sanitizeLine } from "../terminal/sanitize.ts";
import { detailLines } from "../terminal/wrap.ts";
import { outputOf } from "../views/execution.ts";
import { fieldsText } from "../views/log-entry.ts";
import { EventLines, type Paint, plain } from "./event-lines.ts";
import type { DevReporter } from "./events.ts";
import { isEnd } from "./execution-feed.ts";
import { sourceLineOf } from "./source-line.ts";
import { contentsText, startText } from "./start-text.ts";

/** The name in lines of `svc dev` itself. */
const ownName = "svc";

/** @param keysHint - the keys that the command reads; empty without a terminal */
export function textReporter(root: string, keysHint: string): DevReporter {
  const lines = new EventLines();
  /** Webhooks and schedules that were printed last. */
  let shown = "";
  /** Executions that have begun and not ended. */
  const running = new Set<string>();

  const own = (state: string, paint: Paint, text: string): void =>
    lines.print({ name: ownName, state, paint, text });

  return {
    started(start) {
      const usage = start.otherConnection === "" ? "Commands in this folder use this server." : "";
      const hint = [usage, keysHint].filter((text) => text !== "").join(" ");
      print(`${startText(start)}\n${hint === "" ? "" : `\n${hint}\n`}`);
    },
    secrets: (names) => own("secrets", colors.green, names.join(", ") || "none"),
    deployed(deployment, schedules, tookMs, missingSecrets) {
      const { agents, workflows, project, version, warnings } = deployment;
      lines.fit([ownName, ...[...agents, ...workflows].map(({ name }) => name)]);
      const contents = contentsText(deployment, schedules);
      if (contents !== shown) print(`${contents}${contents === "" ? "" : "\n"}`);
      shown = contents;
      own("deployed", colors.green, `${sanitizeLine(`${project} ${version}`)} in ${duration(tookMs)}`);
      for (const warning of warnings) own("warning", colors.yellow, sanitizeLine(warning));
      for (const secret of missingSecrets) own("hint", colors.cyan, `Add \`${secret}=…\` to ${envFile}.`);
    },
    contents: () => print(shown === "" ? "No webhooks and no schedules." : `${shown}\n`),
    unchanged(isFixed) {
      const text = "The active deployment has the same files.";
      own("unchanged", colors.dim, isFixed ? `The problem is fixed. ${text}` : text);
    },
    failed({ message, details }, keepsActive) {
      own("error", colors.red, message);
      for (const detail of details) print(detailLines(detail, 2, process.stdout));
      const state = keepsActive ? "The last deployment stays active." : "Nothing is deployed.";
      print(`  ${colors.dim(`${state} Save a fix to deploy again.`)}`);
    },
    missedStart(execution) {
      printStart(execution, dateOf(execution.startedAt) ?? new Date());
    },
    async execution(execution) {
      if (isEnd(execution)) running.delete(execution.executionId);
      else running.add(execution.executionId);
      await printExecution(execution);
    },
    log({ fields, level, message, name, source, time }) {
      // Other entries repeat the states of executions and deployments.
      if (source !== "console") return;
      const paint = { error: colors.red, warn: colors.yellow }[level] ?? plain;
      const isInfo = level === "info";
      lines.print({
        at: dateOf(time) ?? new Date(),
        name: name || ownName,
        state: isInfo ? "log" : level,
        paint: isInfo ? colors.dim : paint,
        text: message.replace(/\n+$/, "") + fieldsText({ fields }),
        paintText: paint,
      });
    },
    refused({ httpStatus, name, outcome, reason, slug }) {
      const paint = outcome === "rejected" ? colors.red : colors.dim;
      lines.print({ name, state: outcome, paint, text: `${slug}  ${httpStatus}  ${sanitizeLine(reason)}` });
    },
    message: (text) => print(text),
    warning: (text) => own("warning", colors.yellow, text),
    stopping: () => own("stopping", colors.dim, running.size === 0 ? "" : "Waiting for running executions …"),
  };

  async function printExecution(execution: Execution): Promise<void> {
    const { attempt, dueAt, executionId, name, status } = execution;
    const now = new Date();
    const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
    const took = tookMs === null ? "" : duration(tookMs);
    switch (status) {
      case "running":
        return printStart(execution, now);
      case "queued": {
        const due = dateOf(dueAt);
        if (execution.error === undefined || due === null) return;
        const delay = duration(Math.max(0, due.getTime() - now.getTime()));
        const text = `attempt ${attempt} in ${delay}  ${errorText(execution)}`;
        lines.print({ at: now, name, state: "retry", paint: colors.yellow, text });
        // Later attempts mostly fail at the same line. The last one prints it again.
        if (attempt === 2) printSource(execution);
        return;
      }
      case "failed": {
        const text = `${took}  ${errorText(execution)}`;
        lines.print({ at: now, name, state: status, paint: colors.red, text, paintText: colors.red });
        printSource(execution);
        return lines.printBelowName(colors.dim(`svc executions show ${executionId}`));
      }
      case "cancelled":
        return lines.print({ at: now, name, state: status, paint: colors.yellow, text: took });
      default: {
        const output = cut(lineJson(await outputOf(execution)), lines.room - took.length - 2);
        lines.print({ at: now, name, state: status, paint: colors.green, text: `${took}  ${output}` });
      }
    }
  }

  function printStart({ attempt, executionId, name, trigger }: Execution, at: Date): void {
    const text = `${attempt > 1 ? `attempt ${attempt}` : trigger}  ${executionId}`;
    lines.print({ at, name, state: "running", paint: colors.dim, text, paintText: colors.dim });
  }

  /** Prints the line of the project at which an attempt failed. */
  function printSource({ error }: Execution): void {
    const source = sourceLineOf(root, error?.stack ?? "");
    if (source === null) return;
    const { column, file, line } = source;
    lines.printBelow(colors.cyan(`${file}:${line}:${column}`));
    const text = sanitizeLine(source.text.trimStart());
    if (text === "") return;
    const number = `${line} | `;
    const indentation = source.text.length - source.text.trimStart().length;
    lines.printBelow(`${colors.dim(number)}${cut(text, lines.room - number.length)}`);
    const caret = number.length + column - 1 - indentation;
    if (caret >= 0 && caret < lines.room) lines.printBelow(`${" ".repeat(caret)}${colors.red("^")}`);
  }
}

function errorText({ error }: Execution): string {
  return error === undefined ? "" : sanitizeLine(`${error.name}: ${error.message}`);
}

/** Cuts a text at the edge of a terminal. Other outputs get a limit too: an output may have 4 MiB. */
function cut(text: string, width: number): string {
  const limit = Math.min(200, Math.max(10, width));
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}
