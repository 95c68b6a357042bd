/**
 * Counters of an organization and environment per minute and per hour: what became of requests to webhooks, how executions
 * ended, and how long they took. A page of a day costs the same with a million executions as with ten.
 */
import { all, each, type Program, run, runEach } from "../engine.ts";
import { listWaiting } from "./leases.ts";

export const minuteMs = 60_000;
export const hourMs = 3_600_000;

export const counterNames = ["accepted", "rejected", "ignored", "succeeded", "failed", "cancelled"] as const;
export type CounterName = (typeof counterNames)[number];

/** Upper bounds of the durations of ended executions, in milliseconds. Longer ones are in a last class. */
export const durationBounds: readonly number[] = [
  ...[5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000],
  ...[10_000, 30_000, 60_000, 300_000, 1_800_000],
];
const durationNames = [...durationBounds, Number.POSITIVE_INFINITY].map((_, index) => `d${index}`);
const columns = [...counterNames, ...durationNames];

export type Counts = Record<CounterName, number> & { durations: number[] };

export interface StatisticsKey {
  org_id: string;
  environment: string;
  /** `minuteMs` or `hourMs`. */
  span: number;
  /** Start of the minute or hour. */
  at: number;
}

const UPSERT = `INSERT INTO statistics (org_id, environment, span, at, ${columns.join(", ")})
SELECT r.org_id, r.environment, r.span, r.at, ${columns.map((name) => `r.${name}`).join(", ")}
FROM ROWS(org_id text, environment text, span int, at int, ${columns.map((name) => `${name} int`).join(", ")}) r
WHERE true ON CONFLICT (org_id, span, at, environment)
DO UPDATE SET ${columns.map((name) => `${name} = statistics.${name} + excluded.${name}`).join(", ")}`;
const SELECT = `SELECT at, ${columns.map((name) => `SUM(${name}) AS ${name}`).join(", ")} FROM statistics
WHERE org_id = ?1 AND span = ?2 AND at >= ?3 AND (?4 = '' OR environment = ?4) GROUP BY at ORDER BY at`;
const DELETE = "DELETE FROM statistics WHERE span = ?1 AND at < ?2";
const SELECT_OWN = `SELECT d.deployment_id FROM deployments d, ROWS(deployment_id text) r
WHERE d.org_id = ?1 AND d.deployment_id = r.deployment_id AND (?2 = '' OR d.environment = ?2)`;
/** Of one deployment, at most this many are counted. */
const maxQueued = 10_000;
const COUNT_QUEUED = `SELECT r.deployment_id, (SELECT COUNT(*) FROM (SELECT 1 FROM executions e
  WHERE e.status = 'queued' AND e.deployment_id = r.deployment_id LIMIT ${maxQueued}) q) AS count
FROM ROWS(deployment_id text) r`;

export function emptyCounts(): Counts {
  const counts = Object.fromEntries(counterNames.map((name) => [name, 0])) as Record<CounterName, number>;
  return { ...counts, durations: durationNames.map(() => 0) };
}

export function* addStatistics(rows: readonly (StatisticsKey & { counts: Counts })[]): Program<void> {
  const values = rows.map(({ org_id, environment, span, at, counts }) => [
    ...[org_id, environment, span, at],
    ...counterNames.map((name) => counts[name]),
    ...counts.durations,
  ]);
  yield* runEach(UPSERT, values);
}

/** @param environment - empty for all */
export function* readStatistics(
  orgId: string,
  environment: string,
  span: number,
  sinceMs: number,
): Program<(Counts & { at: number })[]> {
  const rows = yield* all<Record<string, number | bigint>>(SELECT, orgId, span, sinceMs, environment);
  return rows.map((row) => ({
    ...(Object.fromEntries(counterNames.map((name) => [name, Number(row[name])])) as Record<
      CounterName,
      number
    >),
    durations: durationNames.map((name) => Number(row[name])),
    at: Number(row.at),
  }));
}

/** Minutes are kept for 2 days, hours for 30. */
export function* deleteOldStatistics(nowMs: number): Program<void> {
  yield* run(DELETE, minuteMs, nowMs - 2 * 24 * hourMs);
  yield* run(DELETE, hourMs, nowMs - 30 * 24 * hourMs);
}

export interface Queue {
  /** Counted up to 10,000 of each deployment. */
  queued: number;
  /** The earliest due time of a queued execution; null when none is queued. */
  oldestDueMs: number | null;
}

/** The queued executions of an organization. */
export function* readQueue(orgId: string, environment: string): Program<Queue> {
  const waiting = new Map((yield* listWaiting()).map((row) => [row.deployment_id, row.due_at]));
  const ids = [...waiting.keys()].map((id) => [id]);
  const own = yield* each<{ deployment_id: string }>(SELECT_OWN, ids, orgId, environment);
  const counts = yield* each<{ count: number }>(
    COUNT_QUEUED,
    own.map((row) => [row.deployment_id]),
  );
  const due = own.map((row) => waiting.get(row.deployment_id) ?? Number.POSITIVE_INFINITY);
  return {
    queued: counts.reduce((sum, { count }) => sum + Number(count), 0),
    oldestDueMs: due.length === 0 ? null : Math.min(...due),
  };
}
