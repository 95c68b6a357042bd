/**
 * Lets go of what is no longer kept: finished executions and their logs after the retention, expired idempotency keys,
 * half-done uploads after an hour, packages that no deployment references after a day. In small batches with pauses
 * between them, so that nobody notices.
 */
import type { ObjectStorage } from "./storage/contract.ts";
import type { Engine, Program } from "./store/engine.ts";
import {
  deleteOldExecutions,
  deleteOldLogs,
  deleteOldTicks,
  deleteOldUploads,
  forgetObject,
  listUnusedObjects,
} from "./store/housekeeping.ts";
import { deleteExpiredIdempotency } from "./store/idempotency.ts";

const roundMs = 60_000;
const batchSize = 200;
const pauseMs = 20;
const dayMs = 86_400_000;

/** Where unpacked packages are, as far as this needs to know. */
interface PackageFolders {
  remove(key: { orgId: string; digest: string }): Promise<void>;
}

export interface HousekeeperParts {
  engine: Engine;
  storage: ObjectStorage;
  packages: PackageFolders;
  /** How long finished executions are kept. */
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

  /** Goes once over everything, as of a time. */
  async round(nowMs: number): Promise<void> {
    const { engine, retentionDays } = this.#parts;
    const keptFrom = nowMs - retentionDays * dayMs;
    await this.#inBatches(() => deleteOldExecutions(keptFrom, batchSize));
    await this.#inBatches(() => deleteOldLogs(keptFrom, batchSize));
    await this.#inBatches(() => deleteOldTicks(keptFrom, batchSize));
    await this.#inBatches(() => deleteExpiredIdempotency(nowMs, batchSize));
    await engine.write(() => deleteOldUploads(nowMs));
    await this.#collectPackages(nowMs - dayMs);
  }

  async #inBatches(batch: () => Program<number>): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if ((await this.#parts.engine.write(batch)) < batchSize) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** The row goes first: a package without a row is stored anew, a row without a package would be a broken promise. */
  async #collectPackages(beforeMs: number): Promise<void> {
    const { engine, storage, packages } = this.#parts;
    for (const { org_id, digest } of await engine.read(() => listUnusedObjects(beforeMs, batchSize))) {
      if (this.#closing.signal.aborted) return;
      if (!(await engine.write(() => forgetObject(org_id, digest, beforeMs)))) continue;
      await storage.delete({ orgId: org_id, digest });
      await packages.remove({ orgId: org_id, digest });
    }
  }
}
