import { UsageError } from "./errors.ts";

/** `--json`, on every command that has a result. */
export const json = {
  json: { type: "boolean", description: "Print one JSON document on standard output, nothing else" },
} as const;

/** `--verbose`, on every command that speaks to the service. */
export const verbose = {
  verbose: { type: "boolean", alias: "v", description: "Say more: requests, addresses and details" },
} as const;

/** `--environment`, on commands that read. */
export const environment = {
  environment: {
    type: "string",
    alias: "e",
    valueHint: "name",
    description: "Only those of one environment",
  },
} as const;

/** What names one schedule. */
export const oneSchedule = {
  name: { type: "positional", description: "The agent or workflow that it runs" },
  environment: {
    type: "string",
    alias: "e",
    valueHint: "name",
    description: "That of this environment instead of production",
  },
} as const;

/** `--limit`, on lists. */
export const limit = {
  limit: { type: "string", valueHint: "n", default: "20", description: "How many, 1 to 1000" },
} as const;

/** `--since`, on lists of what happened. */
export const sinceOption = {
  since: {
    type: "string",
    valueHint: "time",
    description: "Only those since then: 30m, 2h, 7d, or an RFC 3339 time",
  },
} as const;

/** What a new API key is to be. */
export const newKey = {
  name: { type: "string", required: true, valueHint: "name", description: "What it is for (required)" },
  scope: {
    type: "enum",
    options: ["read", "trigger", "deploy", "full"],
    valueHint: "scope",
    default: "full",
    description: "What it may do, each with what stands before it",
  },
  expires: {
    type: "string",
    valueHint: "time",
    description: "When it ceases to work: 90d, 12h, or an RFC 3339 time; never when not given",
  },
} as const;

/** `--agent` and `--workflow`, on what can be narrowed to one of them. */
export const target = {
  agent: { type: "string", valueHint: "name", description: "Only those of one agent" },
  workflow: { type: "string", valueHint: "name", description: "Only those of one workflow" },
} as const;

/** What `--agent` and `--workflow` name; empty strings when neither is given. */
export function targetOf(values: { agent: string | undefined; workflow: string | undefined }): {
  kind: "" | "agent" | "workflow";
  name: string;
} {
  if (values.agent !== undefined && values.workflow !== undefined) {
    throw new UsageError("--agent and --workflow exclude each other.", "Name one of them.");
  }
  if (values.agent !== undefined) return { kind: "agent", name: values.agent };
  if (values.workflow !== undefined) return { kind: "workflow", name: values.workflow };
  return { kind: "", name: "" };
}

/** A whole number in decimal digits. */
export function integer(text: string, option: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(
    `${option} must be a whole number from ${min} to ${max}; it is "${text}".`,
    `For example ${option} ${Math.min(max, Math.max(min, 50))}.`,
  );
}

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const rfc3339 = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** A time of the past: so long ago (`90s`, `30m`, `2h`, `7d`, `1w`), or a date or time of RFC 3339. */
export function since(text: string, now: Date = new Date()): Date {
  const time = readTime(text, (ms) => now.getTime() - ms);
  if (time !== null) return time;
  throw new UsageError(
    `--since must be so long ago or a time; it is "${text}".`,
    "For example --since 30m, --since 7d or --since 2026-05-01T12:00:00Z.",
  );
}

/** A time to come: in so long (`90s`, `30m`, `2h`, `7d`, `1w`), or a date or time of RFC 3339. */
export function expiry(text: string, now: Date = new Date()): Date {
  const time = readTime(text, (ms) => now.getTime() + ms);
  if (time !== null && time.getTime() > now.getTime()) return time;
  throw new UsageError(
    `--expires must be a length of time or a time to come; it is "${text}".`,
    "For example --expires 90d or --expires 2030-01-01T00:00:00Z.",
  );
}

function readTime(text: string, at: (ms: number) => number): Date | null {
  const length = /^(\d{1,6})([smhdw])$/.exec(text);
  const time =
    length === null
      ? new Date(rfc3339.test(text) ? text : Number.NaN)
      : new Date(at(Number(length[1]) * unitSeconds[length[2] as keyof typeof unitSeconds] * 1000));
  return Number.isNaN(time.getTime()) ? null : time;
}
