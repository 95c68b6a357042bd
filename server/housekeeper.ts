/**
 * Deletes expired data once a minute: finished executions with their logs, ticks and other log entries after the
 * retention period, expired idempotency keys, unfinished uploads after an hour, and packages a day after the last
 * deployment that used them was deleted. Small batches with pauses keep the store available.
 */
import type { ObjectStorage } from "./storage/contract.ts";
import type { Engine, Program } from "./store/engine.ts";
import { deleteOldWindows } from "./store/tables/alerts.ts";
import { deleteExpiredConsoleSessions } from "./store/tables/console-sessions.ts";
import { deleteOldStatistics } from "./store/tables/counters.ts";
import { deleteOldDeliveries } from "./store/tables/deliveries.ts";
import { failAbandoned } from "./store/tables/deployments.ts";
import {
  deleteOldExecutions,
  deleteSurplusExecutions,
  listExecutionsBefore,
} from "./store/tables/expired-executions.ts";
import {
  beginDeletion,
  deleteOldLogs,
  deleteOldTicks,
  deleteOldUploads,
  finishDeletion,
  listUnusedObjects,
} from "./store/tables/housekeeping.ts";
import { deleteExpiredIdempotency } from "./store/tables/idempotency.ts";
import { deleteOldInputChecks } from "./store/tables/input-checks.ts";
import { deleteOldChecks } from "./store/tables/module-checks.ts";
import { deleteUpload, listExpiredUploads, toUpload } from "./store/tables/objects.ts";
import { listExpiringKeys, listOrganizations } from "./store/tables/organizations.ts";
import { releasePages, storeSize } from "./store/tables/statistics.ts";
import { log, reasonOf } from "./telemetry/log/index.ts";

const roundMs = 60_000;
const batchSize = 200;
/** Log entries of executions that a transaction deletes: 20 ms. */
const logsPerBatch = 5_000;
const pauseMs = 20;
/** Executions that are read at a time. */
const pageSize = 1_000;
/** After all ids. */
const lastId = "exf";
/** 512 KiB each. */
const releasesPerRound = 200;
const keptFreeBytes = 16 * 1024 ** 2;
const keptFreeShare = 0.1;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Before the expiry of an API key. */
const expiryWarningMs = 7 * dayMs;

/** Removes unpacked packages. */
interface PackageFolders {
  remove(key: { orgId: string; digest: string }): Promise<void>;
}

export interface HousekeeperParts {
  engine: Engine;
  storage: ObjectStorage;
  packages: PackageFolders;
  /** Retention of finished executions, in days. */
  retentionDays: number;
  /** Finished executions that are kept of each target in each environment; 0 or undefined keeps all. */
  retentionCount?: number;
}

export class Housekeeper {
  readonly #parts: HousekeeperParts;
  readonly #closing = new AbortController();
  #countedAtMs = Number.NEGATIVE_INFINITY;
  #warnedAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: HousekeeperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#round = this.#round
        .then(() => this.round(Date.now()))
        .catch((error: unknown) => {
          log.error("Housekeeping failed", { reason: reasonOf(error) });
        });
    }, roundMs);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#round;
  }

  /** Deletes everything that has expired at `nowMs`. */
  async round(nowMs: number): Promise<void> {
    const { retentionDays } = this.#parts;
    await this.#parts.engine.write(function* () {
      yield* failAbandoned(nowMs - hourMs, nowMs);
      yield* deleteOldChecks(nowMs - hourMs);
      yield* deleteOldInputChecks(nowMs - hourMs);
      yield* deleteOldWindows(nowMs - hourMs);
    });
    const expiredBefore = nowMs - retentionDays * dayMs;
    const limits = { executions: batchSize, logs: logsPerBatch };
    await this.#whileMore(() => deleteOldExecutions(expiredBefore, limits));
    await this.#deleteSurplus(nowMs);
    await this.#inBatches(() => deleteOldDeliveries(expiredBefore, batchSize));
    await this.#inBatches(() => deleteOldLogs(expiredBefore, batchSize, nowMs));
    await this.#inBatches(() => deleteOldTicks(expiredBefore, batchSize));
    await this.#inBatches(() => deleteExpiredIdempotency(nowMs, batchSize));
    await this.#parts.engine.write(function* () {
      yield* deleteExpiredConsoleSessions(nowMs, batchSize);
      yield* deleteOldStatistics(nowMs);
    });
    await this.#deleteUploads(nowMs);
    await this.#deleteUnusedPackages(nowMs - dayMs, nowMs);
    await this.#releaseFreePages();
    await this.#warnOfExpiringKeys(nowMs);
  }

  /**
   * Deletes finished executions beyond the number that is kept, once an hour. Reads all executions in pages: an index by
   * target would cost every execution, and with a limit there are few.
   */
  async #deleteSurplus(nowMs: number): Promise<void> {
    const { engine, retentionCount = 0 } = this.#parts;
    if (retentionCount === 0 || nowMs - this.#countedAtMs < hourMs) return;
    this.#countedAtMs = nowMs;
    for (const { org_id: orgId } of await engine.read(listOrganizations)) {
      const counts = new Map<string, number>();
      for (let before = lastId; ; ) {
        const page = await engine.read(() => listExecutionsBefore(orgId, before, pageSize));
        const surplus = page.filter(({ environment, kind, name, finished_at }) => {
          // A client may still follow an execution that has just ended.
          if (finished_at === null || finished_at > nowMs - hourMs) return false;
          const target = `${environment}/${kind}/${name}`;
          const count = (counts.get(target) ?? 0) + 1;
          counts.set(target, count);
          return count > retentionCount;
        });
        for (let at = 0; at < surplus.length; at += batchSize) {
          const ids = surplus.slice(at, at + batchSize).map(({ execution_id }) => execution_id);
          await this.#whileMore(() => deleteSurplusExecutions(orgId, ids, logsPerBatch));
          if (this.#closing.signal.aborted) return;
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        const last = page.at(-1);
        if (last === undefined || page.length < pageSize) break;
        before = last.execution_id;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  /** Once a day and process for each key. */
  async #warnOfExpiringKeys(nowMs: number): Promise<void> {
    if (nowMs - this.#warnedAtMs < dayMs) return;
    this.#warnedAtMs = nowMs;
    const { engine } = this.#parts;
    for (const row of await engine.read(() => listExpiringKeys(nowMs, nowMs + expiryWarningMs, batchSize))) {
      log.warn("An API key expires soon", {
        reason: `'${row.name}' on ${new Date(row.expires_at ?? 0).toISOString()}`,
        key_id: row.key_id,
      });
    }
  }

  /** Some free pages remain, because the next executions use them. */
  async #releaseFreePages(): Promise<void> {
    const { engine } = this.#parts;
    for (let batch = 0; batch < releasesPerRound && !this.#closing.signal.aborted; batch++) {
      const { bytes, freeBytes, releases } = await engine.read(storeSize);
      if (releases !== true || freeBytes < Math.max(keptFreeBytes, bytes * keptFreeShare)) return;
      await engine.write(releasePages);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #inBatches(batch: () => Program<number>): Promise<void> {
    await this.#whileMore(function* () {
      return (yield* batch()) >= batchSize;
    });
  }

  async #whileMore(batch: () => Program<boolean>): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if (!(await this.#parts.engine.write(batch))) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /**
   * Staged uploads are discarded first, an hour after their URLs expire: a request that began before may still run. A
   * confirmed upload is discarded too, because its URLs remained valid.
   */
  async #deleteUploads(nowMs: number): Promise<void> {
    const { engine, storage } = this.#parts;
    if (storage.staging === undefined) return engine.write(() => deleteOldUploads(nowMs));
    for (const row of await engine.read(() => listExpiredUploads(nowMs - hourMs, batchSize))) {
      if (this.#closing.signal.aborted) return;
      await storage.staging.discard(toUpload(row));
      await engine.write(() => deleteUpload(row.org_id, row.upload_id));
    }
  }

  /** While the object is being deleted, its row remains and prevents that the same package is stored again. */
  async #deleteUnusedPackages(beforeMs: number, nowMs: number): Promise<void> {
    const { engine, storage, packages } = this.#parts;
    for (const { org_id, digest } of await engine.read(() => listUnusedObjects(beforeMs, batchSize, nowMs))) {
      if (this.#closing.signal.aborted) return;
      if (!(await engine.write(() => beginDeletion(org_id, digest, beforeMs, nowMs)))) continue;
      await storage.delete({ orgId: org_id, digest });
      await packages.remove({ orgId: org_id, digest });
      await engine.write(() => finishDeletion(org_id, digest));
    }
  }
}
