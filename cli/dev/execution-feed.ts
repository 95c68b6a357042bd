/**
 * Follows the executions of the embedded server, each with a stream of its own: the stream of an execution has its log
 * before its end. Executions beyond the limit wait until another one ends.
 */
import type { Execution, LogLine } from "../../proto/svc/v1/execution_pb.ts";
import type { Connection } from "../api/connection.ts";

const maxStreams = 32;
/** Further executions are not followed. A load test against `svc dev` must not fill the memory. */
const maxWaiting = 10_000;

export interface FeedEvents {
  /** The execution has ended, and the stream began too late for its state `running`. Its log follows. */
  onMissedStart(execution: Execution): void;
  /** The state has changed. The log entries before the change have been reported. */
  onExecution(execution: Execution): void | Promise<void>;
  onLog(log: LogLine): void;
  onError(error: unknown): void;
}

export class ExecutionFeed {
  readonly #connection: Connection;
  readonly #events: FeedEvents;
  readonly #following = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #closing = new AbortController();

  constructor(connection: Connection, events: FeedEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /** Follows an execution to its end. Has no effect while it is followed. */
  follow(executionId: string): void {
    if (this.#following.has(executionId) || this.#closing.signal.aborted) return;
    if (this.#following.size >= maxStreams) {
      if (this.#waiting.size < maxWaiting) this.#waiting.add(executionId);
      return;
    }
    this.#following.add(executionId);
    void this.#follow(executionId);
  }

  close(): void {
    this.#closing.abort();
    this.#waiting.clear();
  }

  async #follow(executionId: string): Promise<void> {
    try {
      await this.#read(executionId);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#events.onError(error);
    } finally {
      this.#following.delete(executionId);
      const [next] = this.#waiting;
      if (next !== undefined) {
        this.#waiting.delete(next);
        this.follow(next);
      }
    }
  }

  async #read(executionId: string): Promise<void> {
    const executions = await this.#connection.client("executions");
    const { signal } = this.#closing;
    /** The end of an execution that had ended before the stream began, which sends it before the log. */
    let end: Execution | null = null;
    let hasStarted = false;
    for await (const { event } of executions.watchExecution({ executionId }, { signal })) {
      if (event.case === "log") this.#events.onLog(event.value);
      else if (event.case !== "execution") continue;
      else if (isEnd(event.value)) {
        end = event.value;
        if (!hasStarted && end.startedAt !== undefined) this.#events.onMissedStart(end);
      } else {
        hasStarted ||= event.value.status === "running";
        await this.#events.onExecution(event.value);
      }
    }
    if (end !== null) await this.#events.onExecution(end);
  }
}

export function isEnd({ status }: Execution): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}
