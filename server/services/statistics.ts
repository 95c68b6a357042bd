/** StatisticsService: reads the counters that the store keeps per minute and per hour. */
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Statistics,
  type StatisticsPoint,
  StatisticsPointSchema,
  StatisticsSchema,
  type StatisticsService,
} from "../../proto/svc/v1/statistics_pb.ts";
import { callerOf } from "../auth/caller.ts";
import {
  type Counts,
  counterNames,
  durationBounds,
  emptyCounts,
  hourMs,
  minuteMs,
  readQueue,
  readStatistics,
} from "../store/tables/counters.ts";
import type { App } from "./app.ts";
import { environmentFilter } from "./request.ts";

interface Period {
  lengthMs: number;
  /** Of the points. */
  stepMs: number;
  /** Of the counters. */
  spanMs: number;
}

const hourly: Period = { lengthMs: hourMs, stepMs: minuteMs, spanMs: minuteMs };
const periods: Readonly<Record<string, Period>> = {
  "1h": hourly,
  "24h": { lengthMs: 24 * hourMs, stepMs: 5 * minuteMs, spanMs: minuteMs },
  "7d": { lengthMs: 7 * 24 * hourMs, stepMs: hourMs, spanMs: hourMs },
};

const watchMs = 2_000;

export function statisticsService(app: App): ServiceImpl<typeof StatisticsService> {
  return {
    async getStatistics(request, context) {
      const { orgId } = callerOf(context);
      return await read(app, orgId, environmentFilter(request.environment, context), request.period);
    },

    async *watchStatistics(request, context) {
      const { orgId } = callerOf(context);
      const environment = environmentFilter(request.environment, context);
      const stopped = AbortSignal.any([context.signal, app.closing]);
      let sent = "";
      while (!stopped.aborted) {
        const statistics = await read(app, orgId, environment, request.period);
        const text = describe(statistics);
        if (text !== sent) yield statistics;
        if (!request.follow) return;
        sent = text;
        await pause(watchMs, stopped);
      }
    },
  };
}

async function read(app: App, orgId: string, environment: string, name: string): Promise<Statistics> {
  const { lengthMs, stepMs, spanMs } = periods[name] ?? hourly;
  const now = Date.now();
  const last = Math.floor(now / stepMs) * stepMs;
  const start = last - lengthMs + stepMs;
  const rows = await app.engine.read(() => readStatistics(orgId, environment, spanMs, start));
  const { queued, oldestDueMs } = await app.engine.read(() => readQueue(orgId, environment));
  const total = emptyCounts();
  const steps = Array.from({ length: lengthMs / stepMs }, emptyCounts);
  for (const row of rows) {
    add(total, row);
    const step = steps[Math.floor((row.at - start) / stepMs)];
    if (step !== undefined) add(step, row);
  }
  const waitedMs = oldestDueMs === null ? 0 : now - oldestDueMs;
  return create(StatisticsSchema, {
    points: steps.map((counts, index) => toPoint(start + index * stepMs, counts)),
    total: toPoint(start, total),
    queued,
    ...(waitedMs > 0 && { oldestQueued: durationFromMs(waitedMs) }),
  });
}

function add(sum: Counts, counts: Counts): void {
  for (const name of counterNames) sum[name] += counts[name];
  sum.durations = sum.durations.map((count, index) => count + (counts.durations[index] ?? 0));
}

function toPoint(at: number, { durations, ...counts }: Counts): StatisticsPoint {
  const point = create(StatisticsPointSchema, { at: timestampFromMs(at) });
  for (const name of counterNames) point[name] = BigInt(counts[name]);
  const p50 = quantile(durations, 0.5);
  const p95 = quantile(durations, 0.95);
  if (p50 !== null) point.p50 = durationFromMs(p50);
  if (p95 !== null) point.p95 = durationFromMs(p95);
  return point;
}

/** The upper bound of the class that holds the quantile; of the open class its lower bound. Null without values. */
function quantile(durations: readonly number[], share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [index, count] of durations.entries()) {
    seen += count;
    if (seen >= share * total) return durationBounds[Math.min(index, durationBounds.length - 1)] ?? null;
  }
  return null;
}

/** Changes with the counts and the queue, and with each new point; not with the time that the queue has waited. */
function describe({ total, queued, points }: Statistics): string {
  const counts = total === undefined ? [] : counterNames.map((name) => String(total[name]));
  return [...counts, queued, points.at(-1)?.at?.seconds].join(" ");
}

function pause(ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    stopped.addEventListener("abort", done, { once: true });
    function done() {
      clearTimeout(timer);
      stopped.removeEventListener("abort", done);
      resolve();
    }
  });
}
