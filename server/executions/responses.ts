/** Stores the responses that running executions set with `ctx.respond`, and notifies the requests that wait for them. */
import type { Redactor } from "../secrets/redactor.ts";
import { Batch } from "../store/batch.ts";
import type { Engine } from "../store/engine.ts";
import type { RunningExecution } from "../store/tables/leases.ts";
import { type NewResponse, setResponses } from "../store/tables/leases.ts";
import { log, reasonOf } from "../telemetry/log/index.ts";
import type { AttemptResponse } from "./pool/contract.ts";

export interface ResponseOptions {
  engine: Engine;
  redactorOf(orgId: string): Redactor | undefined;
}

export class Responses {
  readonly #options: ResponseOptions;
  readonly #batch: Batch<NewResponse, undefined>;
  /** By execution. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(options: ResponseOptions) {
    this.#options = options;
    this.#batch = new Batch(options.engine, setResponses);
  }

  /** The first response of an execution counts, also among its attempts. */
  set(row: RunningExecution, response: AttemptResponse): void {
    if (row.response !== null) return;
    row.response = JSON.stringify(this.#redacted(row.org_id, response));
    this.#writing.set(row.execution_id, this.#write(row, row.response));
  }

  /**
   * Resolves when the response of an execution is on disk: its end must not be visible before. Null when nothing is being
   * written.
   */
  written({ execution_id }: RunningExecution): Promise<void> | null {
    return this.#writing.get(execution_id) ?? null;
  }

  async #write(row: RunningExecution, response: string): Promise<void> {
    try {
      await this.#batch.add({ lease: row, response });
    } catch (error) {
      log.error("Cannot write a response", { reason: reasonOf(error), execution_id: row.execution_id });
    } finally {
      this.#writing.delete(row.execution_id);
    }
  }

  #redacted(orgId: string, { status, headers, body }: AttemptResponse): AttemptResponse {
    const redactor = this.#options.redactorOf(orgId);
    if (redactor === undefined) return { status, headers, body };
    const values = Object.entries(headers).map(([name, value]) => [name, redactor.redact(value)]);
    return { status, headers: Object.fromEntries(values), body: redactor.redact(body) };
  }
}
