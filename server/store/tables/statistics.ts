/** Sizes and numbers of what the store holds. The counts read whole tables. */
import { named } from "../dialects/statements.ts";
import { all, first, type Program, run } from "../engine.ts";

export interface StoreSize {
  bytes: number;
  /** Bytes in free pages, which new rows use first. 0 where the engine does not say. */
  freeBytes: number;
  /** Whether free pages can be returned to the file system; null where the engine does that itself. */
  releases: boolean | null;
}

export interface TableStatistics {
  name: string;
  rows: number;
  /** With its indexes. */
  bytes: number;
}

export interface StoreStatistics {
  size: StoreSize;
  /** The largest first. */
  tables: TableStatistics[];
  executions: {
    /** By status. */
    counts: Record<string, number>;
    /** Unix milliseconds; null without executions. */
    oldestAtMs: number | null;
    /** The due time of the queued execution that waits longest; null without one that is due. */
    oldestDueAtMs: number | null;
  };
  packages: { count: number; bytes: number };
}

interface ExecutionCounts {
  status: string;
  count: number;
  oldest: number;
  due: number;
}

const EXECUTIONS = `SELECT status, COUNT(*) AS count, MIN(created_at) AS oldest, MIN(due_at) AS due
FROM executions GROUP BY status`;
const PACKAGES =
  "SELECT COUNT(*) AS count, CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS bytes FROM objects";

export function* storeSize(): Program<StoreSize> {
  const row = yield* first<{ bytes: number; free_bytes: number | null; releases: number | null }>(
    named("storeSize"),
  );
  return {
    bytes: Number(row?.bytes ?? 0),
    freeBytes: Number(row?.free_bytes ?? 0),
    releases: row?.releases === null || row === undefined ? null : Boolean(row.releases),
  };
}

/** Returns up to 512 KiB of free pages to the file system. */
export function* releasePages(): Program<void> {
  yield* run(named("releasePages"));
}

export function* storeStatistics(nowMs: number): Program<StoreStatistics> {
  const size = yield* storeSize();
  const tables: TableStatistics[] = [];
  for (const { name, bytes } of yield* all<{ name: string; bytes: number }>(named("tableSizes"))) {
    if (!/^[a-z_]+$/.test(name) || name.startsWith("sqlite_")) continue;
    const counted = yield* first<{ count: number }>(`SELECT COUNT(*) AS count FROM ${name}`);
    tables.push({ name, rows: Number(counted?.count ?? 0), bytes: Number(bytes) });
  }
  const states = yield* all<ExecutionCounts>(EXECUTIONS);
  const queued = states.find(({ status }) => status === "queued");
  const packages = yield* first<{ count: number; bytes: number }>(PACKAGES);
  return {
    size,
    tables: tables.toSorted((a, b) => b.bytes - a.bytes),
    executions: {
      counts: Object.fromEntries(states.map(({ status, count }) => [status, Number(count)])),
      oldestAtMs: states.length === 0 ? null : Math.min(...states.map(({ oldest }) => Number(oldest))),
      oldestDueAtMs: queued === undefined || queued.due > nowMs ? null : Number(queued.due),
    },
    packages: { count: Number(packages?.count ?? 0), bytes: Number(packages?.bytes ?? 0) },
  };
}
