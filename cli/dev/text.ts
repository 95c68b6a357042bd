/** Prints events for people: one aligned line for each, `time  target  state  details`. */
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { Execution } from "../../proto/svc/v1/execution_pb.ts";
import type { Schedule } from "../../proto/svc/v1/schedule_pb.ts";
import { dateOf, elapsedMs } from "../api/timestamps.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { duration, formatTime } from "../terminal/format.ts";
import { print } from "../terminal/output.ts";
import { lineJson, sanitizeLine } from "../terminal/sanitize.ts";
import { fields, section } from "../terminal/table.ts";
import { outputOf } from "../views/execution.ts";
import { nextRunCells } from "../views/schedule.ts";
import type { DevReporter, DevStart } from "./events.ts";
import { sourceLineOf } from "./source-line.ts";

type Paint = (text: string) => string;

const timeWidth = "10:08:05".length;
/** Longer names do not move the columns of other lines. */
const maxNameWidth = 24;
const stateWidth = "succeeded".length;
const plain: Paint = (text) => text;

/** @param hint - the last line of the start */
export function textReporter(root: string, hint: string): DevReporter {
  let nameWidth = 0;
  /** Webhooks and schedules that were printed last. */
  let shown = "";
  /** Executions whose start was printed. */
  const running = new Set<string>();

  const margin = (): string => " ".repeat(timeWidth + 2 + nameWidth + 2);
  const line = (at: Date, name: string, state: string, paint: Paint, text: string): void => {
    nameWidth = Math.max(nameWidth, Math.min(name.length, maxNameWidth));
    const time = colors.dim(formatTime(at).slice(-timeWidth));
    const label = `${paint(state)}${" ".repeat(Math.max(0, stateWidth - state.length))}`;
    print(`${time}  ${colors.cyan(name.padEnd(nameWidth))}  ${label}  ${text}`.trimEnd());
  };
  const own = (state: string, paint: Paint, text: string): void =>
    line(new Date(), "svc", state, paint, text);

  return {
    started: (start) => print(`${startText(start)}\n\n${hint}\n`),
    secrets: (names) => own("secrets", colors.green, names.join(", ") || "none"),
    deployed(deployment, schedules, tookMs) {
      const { agents, workflows, project, version, warnings } = deployment;
      const names = [...agents, ...workflows].map(({ name }) => name.length);
      nameWidth = Math.max("svc".length, ...names.map((width) => Math.min(width, maxNameWidth)));
      const contents = contentsText(deployment, schedules);
      if (contents !== shown) print(`${contents}${contents === "" ? "" : "\n"}`);
      shown = contents;
      own("deployed", colors.green, `${sanitizeLine(`${project} ${version}`)} in ${duration(tookMs)}`);
      for (const warning of warnings) own("warning", colors.yellow, sanitizeLine(warning));
    },
    unchanged: () => own("unchanged", colors.dim, "The package is the same."),
    failed({ message, details, advice }, keepsActive) {
      own("error", colors.red, `${message}`);
      for (const detail of details) print(detail.replace(/^/gm, "  "));
      const state = keepsActive ? "The last deployment stays active." : "Nothing is deployed.";
      print(`  ${colors.dim(`${advice === "" ? "" : `${advice} `}${state}`)}`);
    },
    async execution(execution) {
      const { attempt, dueAt, error, executionId, name, status, trigger } = execution;
      const now = new Date();
      if (status === "running") {
        const again = attempt > 1 ? `attempt ${attempt}` : trigger;
        running.add(executionId);
        return line(now, name, "running", colors.dim, colors.dim(`${again}  ${executionId}`));
      }
      if (status === "queued") {
        const due = dateOf(dueAt);
        if (error === undefined || due === null) return;
        const delay = duration(Math.max(0, due.getTime() - now.getTime()));
        line(now, name, "retry", colors.yellow, `${errorText(execution)}; attempt ${attempt} in ${delay}`);
        return printSource(execution);
      }
      const tookMs = elapsedMs(execution.startedAt, execution.finishedAt);
      const took = tookMs === null ? "" : duration(tookMs);
      if (status === "cancelled") line(now, name, status, colors.yellow, took);
      else if (status === "failed") {
        line(now, name, status, colors.red, `${took}  ${colors.red(errorText(execution))}`);
        printSource(execution);
        print(`${margin()}${colors.dim(`svc executions show ${executionId}`)}`);
      } else {
        const output = await outputText(execution, margin().length + stateWidth + 2 + took.length + 2);
        line(now, name, status, colors.green, `${took}  ${colors.dim(output)}`);
      }
      running.delete(executionId);
    },
    log({ level, message, name, source, time }) {
      // The state of the execution says the same.
      if (source !== "console") return;
      const paint = { error: colors.red, warn: colors.yellow }[level] ?? plain;
      const text = message.replace(/\n+$/, "");
      const indented = text.replace(/\n/g, `\n${margin()}${" ".repeat(stateWidth + 2)}`);
      const label = level === "info" ? "log" : level;
      line(
        dateOf(time) ?? new Date(),
        name || "svc",
        label,
        level === "info" ? colors.dim : paint,
        paint(indented),
      );
    },
    refused({ httpStatus, name, outcome, reason, slug }) {
      const paint = outcome === "rejected" ? colors.red : colors.dim;
      line(new Date(), name, outcome, paint, `${slug}  ${httpStatus}  ${sanitizeLine(reason)}`);
    },
    message: (text) => print(text),
    warning: (text) => own("warning", colors.yellow, text),
    stopping: () => own("stopping", colors.dim, running.size === 0 ? "" : "Waiting for running executions …"),
  };

  function printSource({ error }: Execution): void {
    const source = sourceLineOf(root, error?.stack ?? "");
    if (source === null) return;
    print(`${margin()}${colors.cyan(`${source.file}:${source.line}:${source.column}`)}`);
    const text = source.text.trimStart();
    if (text === "") return;
    const number = `${source.line} | `;
    const indentation = source.text.length - text.length;
    const caret = " ".repeat(Math.max(0, number.length + source.column - 1 - indentation));
    print(`${margin()}${colors.dim(number)}${sanitizeLine(text)}`);
    print(`${margin()}${caret}${colors.red("^")}`);
  }
}

function startText({ baseUrl, dataDir, isTemporary, isolation, secrets, otherConnection }: DevStart): string {
  const rows = fields([
    ["address", colors.bold(baseUrl)],
    ["data", isTemporary ? `${dataDir} (removed at the end)` : dataDir],
    ["agents on", isolation],
    ["secrets", secrets.join(", ")],
  ]);
  return otherConnection === "" ? rows : `${rows}\n\n${colors.yellow("warning:")} ${otherConnection}`;
}

/** The webhooks with their URLs, and the schedules with their next runs. */
function contentsText({ webhooks }: Deployment, schedules: readonly Schedule[]): string {
  const urls = webhooks.map(({ name, slug, url, signatureScheme }) => {
    const signed = signatureScheme === "" ? "" : colors.dim(`  signature: ${signatureScheme}`);
    return `${colors.cyan(`${name}/${slug}`)}${signed}\n  ${url}`;
  });
  const width = Math.max(0, ...schedules.map(({ name }) => name.length));
  const runs = schedules.map((schedule) => {
    const [, local] = nextRunCells(schedule);
    const next = local === "" ? "disabled" : `next run ${local}`;
    const cron = sanitizeLine(`${schedule.cron} ${schedule.timezone}`);
    return `${colors.cyan(schedule.name.padEnd(width))}  ${cron}  ${colors.dim(next)}`;
  });
  return [section("Webhooks", urls), section("Schedules", runs)].filter((part) => part !== "").join("\n\n");
}

function errorText({ error }: Execution): string {
  return error === undefined ? "" : sanitizeLine(`${error.name}: ${error.message}`);
}

/** The output on the rest of the line. */
async function outputText(execution: Execution, usedWidth: number): Promise<string> {
  const text = lineJson(await outputOf(execution));
  const room = Math.max(20, (process.stdout.columns ?? 120) - usedWidth);
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}
