/**
 * The log of the server itself. The logs of executions are in the store.
 *
 * On a terminal an entry is text: entries of the levels `debug` and `info` go to standard output, others to standard error.
 * Otherwise it is a JSON object on a line of standard error: `time`, `level`, `message` and fields. Every text is cleaned of
 * keys, of the rest of organizations' ids and of control characters (`clean.ts`).
 */
import { inspect } from "node:util";
import { metrics } from "../metrics/index.ts";
import { clean } from "./clean.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
export const logFormats = ["json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogSettings {
  format: LogFormat;
  /** Entries of lower levels are dropped. */
  level: LogLevel;
  /** Begins each text with its time. Entries in JSON always have it. */
  showsTime?: boolean;
}

export interface LogFields {
  /** Why it happened, as a part of a sentence; follows the message in text. */
  reason?: string | undefined;
  /** An unexpected error: with its stack. */
  error?: unknown;
  /** Names are snake_case with units, for example `duration_ms`. Fields that are undefined are left out. */
  [name: string]: unknown;
}

/** `svc dev`, `svc test` and tests keep this. */
let settings: LogSettings = { format: "text", level: "info" };

export function configureLog(next: LogSettings): void {
  settings = next;
}

export const log = {
  debug: (message: string, fields?: LogFields): void => write("debug", message, fields),
  info: (message: string, fields?: LogFields): void => write("info", message, fields),
  warn: (message: string, fields?: LogFields): void => write("warn", message, fields),
  error: (message: string, fields?: LogFields): void => write("error", message, fields),
};

/** The message of anything that was thrown, for the field `reason`. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function write(level: LogLevel, message: string, fields: LogFields = {}): void {
  metrics.logEntries.add(level);
  if (logLevels.indexOf(level) < logLevels.indexOf(settings.level)) return;
  if (settings.format === "json") process.stderr.write(`${toJson(level, message, fields, new Date())}\n`);
  else {
    const time = settings.showsTime ? `${new Date().toISOString()} ` : "";
    const text = `${time}${level === "warn" ? "Warning: " : ""}${toText(message, fields)}`;
    if (level === "debug" || level === "info") console.log(text);
    else console.error(text);
  }
}

/** The JSON of an entry. Own properties of an entry take precedence over fields of the same name. */
export function toJson(level: LogLevel, message: string, fields: LogFields, at: Date): string {
  const { error, ...rest } = fields;
  const entry = { time: at.toISOString(), level, message, ...rest, ...named(error) };
  Object.assign(entry, { time: at.toISOString(), level, message });
  return JSON.stringify(entry, (_, value: unknown) => (typeof value === "string" ? clean(value) : value));
}

function toText(message: string, { reason, error, ...rest }: LogFields): string {
  // The message of a request has its method and path.
  const isRequest = message === `${rest.method} ${rest.path}`;
  const details = Object.entries(rest)
    .filter(([, value]) => value !== undefined && value !== null)
    .filter(([name]) => !isRequest || (name !== "method" && name !== "path"));
  const cause = reason ?? (error === undefined ? undefined : inspect(error));
  const text = [
    message + (cause === undefined ? "" : `: ${cause}`),
    ...details.map(([name, value]) => `${name}=${String(value)}`),
  ].join(" ");
  return clean(text);
}

function named(error: unknown): { error?: unknown } {
  if (error === undefined) return {};
  if (!(error instanceof Error)) return { error: { message: String(error) } };
  const { name, message, stack, cause } = error;
  return { error: { name, message, stack, ...(cause === undefined ? {} : { cause: reasonOf(cause) }) } };
}
