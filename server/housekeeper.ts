/**
 * Deletes expired data once a minute: finished executions with their logs, ticks and other log entries after the
 * retention period, expired idempotency keys, unfinished uploads after an hour, and packages a day after the last
 * deployment that used them was deleted. Small batches with pauses keep the store available.
 */
import type { ObjectStorage } from "./storage/contract.ts";
import { deleteOldDeliveries } from "./store/deliveries.ts";
import type { Engine, Program } from "./store/engine.ts";
import {
  deleteOldExecutions,
  deleteOldLogs,
  deleteOldTicks,
  deleteOldUploads,
  deleteUnusedObject,
  listUnusedObjects,
} from "./store/housekeeping.ts";
import { deleteExpiredIdempotency } from "./store/idempotency.ts";

const roundMs = 60_000;
const batchSize = 200;
const pauseMs = 20;
const dayMs = 86_400_000;

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
}

export class Housekeeper {
  readonly #parts: HousekeeperParts;
  readonly #closing = new AbortController();
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
          console.error("Housekeeping failed:", error instanceof Error ? error.message : error);
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
    const { engine, retentionDays } = this.#parts;
    const expiredBefore = nowMs - retentionDays * dayMs;
    await this.#inBatches(() => deleteOldExecutions(expiredBefore, batchSize));
    await this.#inBatches(() => deleteOldDeliveries(expiredBefore, batchSize));
    await this.#inBatches(() => deleteOldLogs(expiredBefore, batchSize));
    await this.#inBatches(() => deleteOldTicks(expiredBefore, batchSize));
    await this.#inBatches(() => deleteExpiredIdempotency(nowMs, batchSize));
    await engine.write(() => deleteOldUploads(nowMs));
    await this.#deleteUnusedPackages(nowMs - dayMs);
  }

  async #inBatches(batch: () => Program<number>): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if ((await this.#parts.engine.write(batch)) < batchSize) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** The row is deleted first: a package without a row is uploaded again, but a row must always have its package. */
  async #deleteUnusedPackages(beforeMs: number): Promise<void> {
    const { engine, storage, packages } = this.#parts;
    for (const { org_id, digest } of await engine.read(() => listUnusedObjects(beforeMs, batchSize))) {
      if (this.#closing.signal.aborted) return;
      if (!(await engine.write(() => deleteUnusedObject(org_id, digest, beforeMs)))) continue;
      await storage.delete({ orgId: org_id, digest });
      await packages.remove({ orgId: org_id, digest });
    }
  }
}
