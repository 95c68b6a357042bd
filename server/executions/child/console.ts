/** `console`, `ctx.log` and the standard streams of users' code, written to the log of the execution that runs. */
import { formatWithOptions } from "node:util";
import type { Log } from "../../../project/authoring.ts";
import { current } from "./current.ts";
import type { Execution } from "./execution.ts";
import type { Executions } from "./executions.ts";
import type { LogMessage } from "./protocol.ts";

type Level = LogMessage["level"];

const maxIndentation = 64;

export function logFor(executions: Executions, execution: Execution): Log {
  const write =
    (level: Level) =>
    (...values: unknown[]): void =>
      executions.write(execution, level, format(execution, values));
  return Object.freeze({
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  });
}

function format(execution: Execution | undefined, values: unknown[]): string {
  const indentation = execution?.indentation ?? "";
  // The common case needs none of the formatter's work.
  const line =
    values.length === 1 && typeof values[0] === "string"
      ? values[0]
      : formatWithOptions({ colors: false }, ...values);
  return indentation === "" ? line : indentation + line.replaceAll("\n", `\n${indentation}`);
}

/** Replaces the methods of the global `console`, and what the standard streams do with text. */
export function captureConsole(executions: Executions): void {
  const write = (level: Level, values: unknown[]): void => {
    const execution = current();
    executions.write(execution, level, format(execution, values));
  };
  const at =
    (level: Level) =>
    (...values: unknown[]): void =>
      write(level, values);
  const stray = { counts: new Map<string, number>(), timers: new Map<string, number>() };
  const counts = (): Map<string, number> => {
    const execution = current();
    if (execution === undefined) return stray.counts;
    execution.counts ??= new Map();
    return execution.counts;
  };
  const timers = (): Map<string, number> => {
    const execution = current();
    if (execution === undefined) return stray.timers;
    execution.timers ??= new Map();
    return execution.timers;
  };
  const timeLog = (label: string, values: unknown[]): void => {
    const startedAt = timers().get(label);
    if (startedAt === undefined) write("warn", [`No timer is named '${label}'`]);
    else write("info", [`${label}: ${(performance.now() - startedAt).toFixed(3)} ms`, ...values]);
  };
  const indent = (change: number): void => {
    const execution = current();
    if (execution === undefined) return;
    const width = Math.min(maxIndentation, Math.max(0, execution.indentation.length + change));
    execution.indentation = " ".repeat(width);
  };
  const group = (...values: unknown[]): void => {
    if (values.length > 0) write("info", values);
    indent(2);
  };

  Object.assign(console, {
    debug: at("debug"),
    log: at("info"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    trace: (...values: unknown[]) => {
      const trace = new Error(formatWithOptions({ colors: false }, ...values));
      trace.name = "Trace";
      write("debug", [trace]);
    },
    assert: (condition?: unknown, ...values: unknown[]) => {
      if (!condition) write("error", ["Assertion failed", ...values]);
    },
    dir: (value: unknown, options?: object) =>
      write("info", [formatWithOptions({ ...options, colors: false }, "%O", value)]),
    dirxml: at("info"),
    table: (rows: unknown) => write("info", [rows]),
    group,
    groupCollapsed: group,
    groupEnd: () => indent(-2),
    count: (label: unknown = "default") => {
      const count = (counts().get(String(label)) ?? 0) + 1;
      counts().set(String(label), count);
      write("info", [`${label}: ${count}`]);
    },
    countReset: (label: unknown = "default") => void counts().delete(String(label)),
    time: (label: unknown = "default") => void timers().set(String(label), performance.now()),
    timeLog: (label: unknown = "default", ...values: unknown[]) => timeLog(String(label), values),
    timeEnd: (label: unknown = "default") => {
      timeLog(String(label), []);
      timers().delete(String(label));
    },
  });
}
