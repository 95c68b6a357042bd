/** Writes the log entries of runners and deployments in batches. */
import { BatchWriter } from "../store/batch-writer.ts";
import type { Engine } from "../store/engine.ts";
import { insertLogs, type NewLog } from "../store/tables/logs.ts";

export class LogWriter extends BatchWriter<NewLog> {
  constructor(engine: Engine) {
    super({ engine, noun: "log entries", insert: insertLogs });
  }
}
