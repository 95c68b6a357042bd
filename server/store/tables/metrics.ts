/** Statements for the metrics. Each reads a bounded number of index entries, however many rows there are. */
import { first, type Program } from "../engine.ts";
import { listWaiting } from "./leases.ts";

/** The count stops here. It takes 5 ms with SQLite. */
export const maxCounted = 100_000;

const COUNT_QUEUED = `SELECT COUNT(*) AS count FROM (
  SELECT 1 FROM executions WHERE status = 'queued' LIMIT ${maxCounted}) q`;
const SELECT_NEXT_SCHEDULE = "SELECT MIN(next_due_at) AS due_at FROM schedules WHERE next_due_at IS NOT NULL";

export interface StoreState {
  queued: number;
  /** The due time of the oldest queued execution; null when none is queued. */
  oldestDueMs: number | null;
  /** The earliest due time of a schedule; null when there is none. */
  nextScheduleMs: number | null;
}

export function* readStoreState(): Program<StoreState> {
  const queued = (yield* first<{ count: number }>(COUNT_QUEUED))?.count ?? 0;
  const waiting = yield* listWaiting();
  const nextScheduleMs = (yield* first<{ due_at: number | null }>(SELECT_NEXT_SCHEDULE))?.due_at ?? null;
  const due = waiting.map(({ due_at }) => due_at);
  return { queued, oldestDueMs: due.length === 0 ? null : Math.min(...due), nextScheduleMs };
}
