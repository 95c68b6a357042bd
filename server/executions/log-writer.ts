/** Collects log lines and writes them with the next group commit, one program for all that wait. */
import type { Engine } from "../store/engine.ts";
import { insertLogs, type NewLog } from "../store/logs.ts";
import { logTopic, type Notifier } from "./notifier.ts";

export class LogWriter {
  readonly #engine: Engine;
  readonly #notifier: Notifier;
  #waiting: NewLog[] = [];
  #writing: Promise<void> | null = null;

  constructor(engine: Engine, notifier: Notifier) {
    this.#engine = engine;
    this.#notifier = notifier;
  }

  add(rows: readonly NewLog[]): void {
    if (rows.length === 0) return;
    for (const row of rows) this.#waiting.push(row);
    this.#start();
  }

  /** Resolves when everything added before is on disk. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  #start(): void {
    if (this.#writing !== null) return;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#writing = this.#engine
      .write(() => insertLogs(batch))
      .then(
        () => {
          for (const orgId of new Set(batch.map((row) => row.org_id))) this.#notifier.notify(logTopic(orgId));
        },
        (error: unknown) => {
          console.error(
            `Cannot write ${batch.length} log lines:`,
            error instanceof Error ? error.message : error,
          );
        },
      )
      .finally(() => {
        this.#writing = null;
        if (this.#waiting.length > 0) this.#start();
      });
  }
}
