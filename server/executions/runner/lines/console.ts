/** Redirects `console` and `ctx.log` of users' code to the log of the current attempt. */
import { Console } from "node:console";
import { Writable } from "node:stream";
import { formatWithOptions } from "node:util";
import type { Log } from "../../../../project/authoring.ts";
import { current } from "../current-attempt.ts";
import type { Attempt, LogSink } from "../interfaces.ts";
import type { LogMessage } from "../protocol.ts";
import { ConsoleState, remember } from "./console-state.ts";
import { splitFields } from "./fields.ts";

type Level = LogMessage["level"];

const maxIndentation = 64;
const groupIndentation = 2;

export function logFor(sink: LogSink, attempt: Attempt): Log {
  const write =
    (level: Level) =>
    (...values: unknown[]): void => {
      const { texts, fields } = splitFields(values, sink);
      sink.write(attempt, level, format(attempt.console, texts), fields);
    };
  return Object.freeze({
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  });
}

/** Replaces the methods of the global `console`. */
export function captureConsole(sink: LogSink): void {
  const stray = new ConsoleState();
  const state = (): ConsoleState => current()?.console ?? stray;
  const write = (level: Level, ...values: unknown[]): void =>
    sink.write(current(), level, format(state(), values));
  const at =
    (level: Level) =>
    (...values: unknown[]): void =>
      write(level, ...values);

  const indent = (change: number): void => {
    const width = Math.min(maxIndentation, Math.max(0, state().indentation.length + change));
    state().indentation = " ".repeat(width);
  };
  const group = (...values: unknown[]): void => {
    if (values.length > 0) write("info", ...values);
    indent(groupIndentation);
  };
  const logTime = (label: string, ...values: unknown[]): void => {
    const startedAtMs = state().startedAtMs.get(label);
    if (startedAtMs === undefined) write("warn", `Timer '${label}' does not exist`);
    else write("info", `${label}: ${(performance.now() - startedAtMs).toFixed(3)}ms`, ...values);
  };

  Object.assign(console, {
    debug: at("debug"),
    log: at("info"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    dirxml: at("info"),
    trace: (...values: unknown[]) => {
      const trace = { name: "Trace", message: format(new ConsoleState(), values), stack: new Error().stack };
      write("debug", sink.describe(trace).stack);
    },
    assert: (condition?: unknown, ...values: unknown[]) => {
      if (condition) return;
      if (typeof values[0] === "string") write("error", `Assertion failed: ${values[0]}`, ...values.slice(1));
      else write("error", "Assertion failed", ...values);
    },
    dir: (value: unknown, options?: object) => {
      write("info", formatWithOptions({ ...options, colors: false }, "%O", value));
    },
    table: (...values: [unknown, string[]?]) => write("info", table(values)),
    group,
    groupCollapsed: group,
    groupEnd: () => indent(-groupIndentation),
    count: (label: unknown = "default") => {
      const name = String(label);
      const { counts } = state();
      const count = (counts.get(name) ?? 0) + 1;
      remember(counts, name, count);
      write("info", `${name}: ${count}`);
    },
    countReset: (label: unknown = "default") => void state().counts.delete(String(label)),
    time: (label: unknown = "default") => remember(state().startedAtMs, String(label), performance.now()),
    timeLog: (label: unknown = "default", ...values: unknown[]) => logTime(String(label), ...values),
    timeEnd: (label: unknown = "default") => {
      logTime(String(label));
      state().startedAtMs.delete(String(label));
    },
  });
}

function format({ indentation }: ConsoleState, values: unknown[]): string {
  const [first] = values;
  // The common case does not need the formatter.
  const text =
    values.length === 1 && typeof first === "string"
      ? first
      : formatWithOptions({ colors: false }, ...values);
  return indentation === "" ? text : indentation + text.replaceAll("\n", `\n${indentation}`);
}

/** Renders a table with the runtime's own `console.table`. */
function table(values: [unknown, string[]?]): string {
  let text = "";
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  new Console({ stdout }).table(...values);
  return text.replace(/\n$/, "");
}
