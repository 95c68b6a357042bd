/** Writes log entries in batches and notifies the readers that follow the log. */
import { BatchWriter } from "../store/batch-writer.ts";
import type { Engine } from "../store/engine.ts";
import { insertLogs, type NewLog } from "../store/logs.ts";
import { logTopic, type Notifier } from "./notifier.ts";

export class LogWriter extends BatchWriter<NewLog> {
  constructor(engine: Engine, notifier: Notifier) {
    super({
      engine,
      noun: "log entries",
      insert: insertLogs,
      onWritten(rows) {
        for (const orgId of new Set(rows.map((row) => row.org_id))) notifier.notify(logTopic(orgId));
      },
    });
  }
}
