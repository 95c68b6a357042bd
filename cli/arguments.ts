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

/** `--limit`, on lists. */
export const limit = {
  limit: { type: "string", valueHint: "n", default: "20", description: "How many, 1 to 1000" },
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

/** A time: so long ago (`90s`, `30m`, `2h`, `7d`, `1w`), or a date or time of RFC 3339. */
export function since(text: string, now: Date = new Date()): Date {
  const ago = /^(\d{1,6})([smhdw])$/.exec(text);
  if (ago !== null) {
    const seconds = Number(ago[1]) * unitSeconds[ago[2] as keyof typeof unitSeconds];
    return new Date(now.getTime() - seconds * 1000);
  }
  const isRfc3339 = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text);
  const time = new Date(text);
  if (isRfc3339 && !Number.isNaN(time.getTime())) return time;
  throw new UsageError(
    `--since must be so long ago or a time; it is "${text}".`,
    "For example --since 30m, --since 7d or --since 2026-05-01T12:00:00Z.",
  );
}
