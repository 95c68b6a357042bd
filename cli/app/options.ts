/** Argument definitions that several commands share. */
import { UsageError } from "./errors.ts";
import { futureTime, integer, type Parser, pastTime, resourceId } from "./option-values.ts";

export const json = {
  json: { type: "boolean", description: "Print one JSON document on standard output" },
} as const;

export const verbose = {
  verbose: { type: "boolean", alias: "v", description: "Print each request and further details" },
} as const;

export const force = {
  force: { type: "boolean", alias: "y", synonym: "yes", description: "Do not ask for confirmation" },
} as const;

/** `--json` and `--verbose`, which almost every command has. */
export const output: typeof json & typeof verbose = { ...json, ...verbose };

/** `--environment` as a filter. */
export const environment = {
  environment: { type: "string", alias: "e", valueHint: "name", description: "Filter by environment" },
} as const;

/** `--environment` where one environment is meant. */
export const oneEnvironment = {
  environment: {
    type: "string",
    alias: "e",
    valueHint: "name",
    description: "Environment (default: that of SVC_BASE_URL or `svc dev`, otherwise production)",
  },
} as const;

/** `--environment` of a value that an environment may have of its own. */
export const ownEnvironment = {
  environment: {
    type: "string",
    alias: "e",
    valueHint: "name",
    description: "Environment of the value (default: all without their own)",
  },
} as const;

export const limit = {
  limit: {
    type: "string",
    valueHint: "n",
    default: "20",
    description: "Maximum number of entries, 1 to 1000",
    parse: integer(1, 1000) as Parser<number>,
  },
} as const;

/** `--limit` for lists that the API returns in full. */
export const fullListLimit: { limit: Omit<typeof limit.limit, "default"> & { default: "1000" } } = {
  limit: { ...limit.limit, default: "1000" },
};

/** Options of lists with pages. */
export const paging = {
  "page-token": {
    type: "string",
    valueHint: "token",
    description: "Continue after a page: its next_page_token",
  },
  all: { type: "boolean", description: "List all entries; --limit has no effect" },
} as const;

export const since = {
  since: {
    type: "string",
    valueHint: "time",
    description: "Filter by time: 30m, 2h, 7d or RFC 3339",
    parse: pastTime as Parser<Date>,
  },
} as const;

export const target = {
  agent: { type: "string", valueHint: "name", description: "Filter by agent" },
  workflow: { type: "string", valueHint: "name", description: "Filter by workflow" },
} as const;

/** Returns the target that `--agent` or `--workflow` names; empty strings when neither is given. */
export function targetOf(values: { agent: string | undefined; workflow: string | undefined }): {
  kind: "" | "agent" | "workflow";
  name: string;
} {
  if (values.agent !== undefined && values.workflow !== undefined) {
    throw new UsageError("--agent and --workflow exclude each other.", "Pass only one of them.");
  }
  if (values.agent !== undefined) return { kind: "agent", name: values.agent };
  if (values.workflow !== undefined) return { kind: "workflow", name: values.workflow };
  return { kind: "", name: "" };
}

export const deploymentId = {
  "deployment-id": {
    type: "positional",
    description: "Deployment ID, `dep_` and 26 characters",
    parse: resourceId("dep") as Parser<string>,
  },
} as const;

export const executionId = {
  "execution-id": {
    type: "positional",
    description: "Execution ID, `exe_` and 26 characters",
    parse: resourceId("exe") as Parser<string>,
  },
} as const;

export const scheduleName = {
  name: {
    type: "positional",
    description: "Name of the schedule: its agent or workflow, or <target>.<name>",
  },
} as const;

export const outcome = {
  outcome: {
    type: "enum",
    options: ["accepted", "rejected", "ignored", "handshake", "replayed"],
    valueHint: "outcome",
    description: "Filter by outcome; only requests to version 0.1 are replayed",
  },
} as const;

export const data = {
  data: {
    type: "string",
    alias: "d",
    valueHint: "json|file",
    description: "Input: a JSON object, a JSON file, or - for standard input (default: {})",
  },
} as const;

/** The options of a command that starts an execution and follows it. */
export const follow = {
  detach: { type: "boolean", description: "Print the execution ID and exit without waiting" },
  json: { type: "boolean", description: "Print the whole execution as JSON instead of its output" },
} as const;

export const newKey = {
  name: { type: "string", required: true, valueHint: "name", description: "Name of the key (required)" },
  scope: {
    type: "enum",
    options: ["read", "trigger", "deploy", "full"],
    valueHint: "scope",
    default: "full",
    description: "Scope; each one includes the previous",
  },
  expires: {
    type: "string",
    valueHint: "time",
    description: "Expiry: 90d, 12h or RFC 3339 (default: never)",
    parse: futureTime as Parser<Date>,
  },
} as const;

/** `--data` of the commands that open the store of a service. */
export const dataFolder = {
  data: {
    type: "string",
    valueHint: "folder",
    description: "Data folder of the service (SVC_DATA_DIR, default: .svc)",
  },
} as const;
