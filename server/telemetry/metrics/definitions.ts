/**
 * All metrics, by the conventions of Prometheus: base units, `_total` for counters, and labels with few values. No label has
 * a value that users choose, such as the name of an organization, an agent or an environment. docs/monitoring.md lists the
 * same table.
 */
export interface Definition {
  name: string;
  type: "counter" | "gauge" | "histogram";
  /** One sentence without a full stop. */
  help: string;
  labels: readonly string[];
  /** Upper bounds of the buckets of a histogram, ascending, without infinity. */
  buckets?: readonly number[];
}

export type RecordedMetric =
  | "requests"
  | "requestDuration"
  | "refusedConnections"
  | "webhooks"
  | "finished"
  | "executionDuration"
  | "attempts"
  | "attemptDuration"
  | "queueWait"
  | "scheduleRuns"
  | "scheduleLateness"
  | "runnerStarts"
  | "runnerFailures"
  | "commitDuration"
  | "commitFailures"
  | "storageDuration"
  | "storageFailures"
  | "loopDelay"
  | "spans"
  | "logEntries";

export type ObservedMetric =
  | "build"
  | "connections"
  | "running"
  | "storeUp"
  | "queued"
  | "queueAge"
  | "scheduleOverdue"
  | "runners"
  | "waitingAttempts"
  | "heap"
  | "cpu"
  | "memory"
  | "started"
  | "descriptors";

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const executionBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 21_600];
const waitBuckets = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600];
const storeBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const delayBuckets = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5];
const latenessBuckets = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];

const counter = (name: string, help: string, ...labels: string[]): Definition => ({
  name,
  type: "counter",
  help,
  labels,
});
const gauge = (name: string, help: string, ...labels: string[]): Definition => ({
  name,
  type: "gauge",
  help,
  labels,
});
const histogram = (
  name: string,
  buckets: readonly number[],
  help: string,
  ...labels: string[]
): Definition => ({ name, type: "histogram", help, labels, buckets });

/** Counters and histograms, which the parts of the server update. */
export const recorded: Record<RecordedMetric, Definition> = {
  requests: counter(
    "svc_http_requests_total",
    "Requests by handler (`webhook`, the name of a method, `probe`, `storage`, `openapi`, `metrics`, `mcp` or `unknown`), HTTP method and status; 499 when the client closed the connection first",
    "handler",
    "method",
    "code",
  ),
  requestDuration: histogram(
    "svc_http_request_duration_seconds",
    requestBuckets,
    "Time from the headers of a request to the end of its response",
    "handler",
  ),
  refusedConnections: counter("svc_http_connections_refused_total", "Connections refused over a limit"),
  webhooks: counter(
    "svc_webhook_requests_total",
    "Webhook requests by outcome (`accepted`, `duplicate`, `ignored`, `handshake`, `rejected`), with the reason of a rejection from the table of errors",
    "outcome",
    "reason",
  ),
  finished: counter(
    "svc_executions_finished_total",
    "Executions that ended, by status (`succeeded`, `failed`, `cancelled`), kind and trigger",
    "status",
    "kind",
    "trigger",
  ),
  executionDuration: histogram(
    "svc_execution_duration_seconds",
    executionBuckets,
    "Time from the acceptance of an execution to its end, with its time in the queue and its retries",
    "kind",
  ),
  attempts: counter(
    "svc_execution_attempts_total",
    "Attempts by outcome: `succeeded`, `cancelled`, `lost`, or why it failed (`thrown`, `exit`, `input`, `output`, `load`, `timeout`, `crash`, `memory`)",
    "outcome",
    "kind",
  ),
  attemptDuration: histogram(
    "svc_execution_attempt_duration_seconds",
    executionBuckets,
    "Time from the claim of an attempt to its outcome",
    "kind",
  ),
  queueWait: histogram(
    "svc_execution_queue_wait_seconds",
    waitBuckets,
    "Time from the due time of an attempt to its claim",
  ),
  scheduleRuns: counter(
    "svc_schedule_ticks_total",
    "Due times of schedules by outcome: `run`, `waiting`, `skipped` or `missed`",
    "outcome",
  ),
  scheduleLateness: histogram(
    "svc_schedule_lateness_seconds",
    latenessBuckets,
    "Time from the due time of a schedule to the start of its run, for outcome `run`",
  ),
  runnerStarts: counter(
    "svc_runner_starts_total",
    "Starts of runners by outcome: `started` or `failed`",
    "outcome",
  ),
  runnerFailures: counter(
    "svc_runner_failures_total",
    "Runners that crashed, blocked their event loop, exceeded their memory or violated the protocol",
  ),
  commitDuration: histogram(
    "svc_store_commit_duration_seconds",
    storeBuckets,
    "Time of a transaction that writes to the store, with the sync to disk",
  ),
  commitFailures: counter("svc_store_commit_failures_total", "Transactions of the store that failed"),
  storageDuration: histogram(
    "svc_storage_operation_duration_seconds",
    requestBuckets,
    "Time of an operation of the object storage: `put`, `get`, `size`, `delete`, `sign`, `check`, `confirm` or `discard`",
    "operation",
  ),
  storageFailures: counter(
    "svc_storage_failures_total",
    "Operations of the object storage that failed",
    "operation",
  ),
  loopDelay: histogram(
    "svc_event_loop_delay_seconds",
    delayBuckets,
    "How late a timer of the server's event loop fired, measured ten times per second",
  ),
  spans: counter(
    "svc_trace_spans_total",
    "Spans by outcome: `exported`, `dropped_queue_full`, or `dropped_not_accepted` by the collector",
    "outcome",
  ),
  logEntries: counter("svc_log_entries_total", "Entries of the server log by level", "level"),
};

/** Gauges and counters that are read at a scrape. */
export const observed: Record<ObservedMetric, Definition> = {
  build: gauge(
    "svc_build_info",
    "1, with the version, the runtime and the role of the process",
    "version",
    "runtime",
    "role",
  ),
  connections: gauge("svc_http_connections", "Open connections"),
  running: gauge("svc_executions_running", "Attempts that run in this process"),
  storeUp: gauge("svc_store_up", "1 when the store answered this scrape, else 0"),
  queued: gauge(
    "svc_queue_executions",
    "Queued executions of all processes, also those that wait for a retry; counts to 100,000",
  ),
  queueAge: gauge(
    "svc_queue_oldest_age_seconds",
    "Time since the due time of the oldest queued execution of all processes; 0 when none is due",
  ),
  scheduleOverdue: gauge(
    "svc_schedule_overdue_seconds",
    "Time since the due time of the schedule that has waited longest for a scheduler; 0 when none is due",
  ),
  runners: gauge("svc_runners", "Runners by state: `starting`, `busy`, `idle` or `ending`", "state"),
  waitingAttempts: gauge("svc_runner_waiting_attempts", "Claimed attempts that wait for a runner"),
  heap: gauge("svc_heap_used_bytes", "Memory of JavaScript objects of this process"),
  cpu: counter(
    "process_cpu_seconds_total",
    "User and system processor time of this process, without runners",
  ),
  memory: gauge("process_resident_memory_bytes", "Resident memory of this process, without runners"),
  started: gauge("process_start_time_seconds", "Start time of this process since the Unix epoch"),
  descriptors: gauge("process_open_fds", "Open file descriptors of this process; Linux only"),
};
