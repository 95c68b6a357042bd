/** The resources as the client returns them. */
import type {
  Execution as ExecutionMessage,
  LogLine as LogLineMessage,
} from "../proto/svc/v1/execution_pb.ts";
import type { Plain } from "./plain.ts";

export type ExecutionStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type TargetKind = "agent" | "workflow";
/** An `alert` is a request to the webhook of `on_failure`. */
export type ExecutionKind = TargetKind | "alert";

/** One run of an agent or workflow, from trigger to final state. Times are `Date`s, `input` and `output` are JSON. */
export interface Execution extends Omit<Plain<ExecutionMessage>, "status" | "kind"> {
  status: ExecutionStatus;
  kind: ExecutionKind;
}

/** A log entry. */
export interface LogLine extends Plain<LogLineMessage> {}

/** The state of an execution, or an entry of its log. */
export type WatchEvent = { type: "execution"; execution: Execution } | { type: "log"; log: LogLine };

export interface CallOptions {
  /** Ends the call or the stream. The rejection is the reason of the signal. */
  signal?: AbortSignal | undefined;
}

export interface StartOptions extends CallOptions {
  /** Needed only when an agent and a workflow could be meant. Default: determined by the name. */
  kind?: TargetKind | undefined;
  /** Calls with the same key, target and input within 24 hours start one execution. With a key, failed calls are repeated. */
  idempotencyKey?: string | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Seconds to wait for the end of the execution. Default: without limit. */
  waitSeconds?: number | undefined;
}

export interface RunOptions extends StartOptions, WaitOptions {}

export interface ListOptions extends CallOptions {
  status?: ExecutionStatus | undefined;
  /** Name of the agent or workflow. */
  name?: string | undefined;
  kind?: ExecutionKind | undefined;
  /** What started the executions. */
  trigger?: "webhook" | "schedule" | "run" | "replay" | "child" | "failure" | undefined;
  /** Executions accepted at or after this time. */
  since?: Date | undefined;
  /** Executions accepted before this time. */
  until?: Date | undefined;
  /** A text in the id, in the error or in the first 16,384 characters of the input as JSON. Case matters. */
  contains?: string | undefined;
  /** Default: the environment of the base URL; all environments for the plain base URL. */
  environment?: string | undefined;
  /** Executions per request. Default 50, at most 1000. */
  pageSize?: number | undefined;
}

export interface WatchOptions extends CallOptions {
  /** Cursor of a log entry: only later entries are sent. */
  after?: string | undefined;
}

export interface LogOptions extends CallOptions {
  /** Name of the agent or workflow. */
  name?: string | undefined;
  executionId?: string | undefined;
  /** Whether to return the entries of child executions too, with `executionId`. Default false. */
  includeChildren?: boolean | undefined;
  environment?: string | undefined;
  /** Entries at or after this time: all of them, unless `lines` is set. */
  since?: Date | undefined;
  /** Entries of this level and of more severe ones. */
  level?: "debug" | "info" | "warn" | "error" | undefined;
  /** A part of the message or of the JSON of the fields. Case matters. */
  contains?: string | undefined;
  /** At most 4 filters such as `order=17`: fields of structured entries, all of which must match. */
  fields?: string[] | undefined;
  /** Existing entries to return first, at most 10,000. Default 100. */
  lines?: number | undefined;
  /** Cursor of a log entry: returns the entries after it, and `lines` has no effect. */
  after?: string | undefined;
  /** Whether to wait for new entries. Default false. */
  follow?: boolean | undefined;
  /** Whether to return only the audit log. Default false. */
  audit?: boolean | undefined;
}

export interface ReplayOptions extends CallOptions {
  /** Replaces the input of the execution. */
  input?: object | undefined;
  /** Deployment whose code runs. Default: the active deployment. */
  deploymentId?: string | undefined;
}

export interface TriggerOptions extends CallOptions {
  /** Seconds to wait for the output, at most 60. Default: the result is returned when the execution is queued. */
  waitSeconds?: number | undefined;
  /** Requests with the same key within 24 hours start one execution. With a key, failed requests are repeated. */
  idempotencyKey?: string | undefined;
  /** Further headers, for example a signature. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface TriggerResult {
  /** Empty with `response`, which replaces the response of the service. */
  executionId: string;
  /** `running` with `response`, although the execution may have finished. */
  status: ExecutionStatus;
  /** The body of the response of a webhook with `respond: output`: JSON or text. Absent with `waitSeconds`. */
  response?: unknown;
  /** Present when the execution succeeded within `waitSeconds`. */
  output?: unknown;
  /** True when the idempotency key was used before. The execution is that of the first request. */
  replayed: boolean;
}

export interface RetryOptions {
  /** Tries of a call, and of a broken stream without a new message. Default 4; 1 turns retries off. */
  attempts?: number | undefined;
  /** The longest pause in milliseconds. A server that asks for a longer one gets no retry. Default 10,000. */
  maxDelayMs?: number | undefined;
}
