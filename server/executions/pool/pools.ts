/** The pools of all deployments. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../../project/json.ts";
import { ownBoundary } from "../sandbox/boundary.ts";
import { TypeStripper } from "../types/type-stripper.ts";
import { checkModules } from "./check-modules.ts";
import type {
  Attempt,
  InputsToCheck,
  ModuleCheck,
  Outcome,
  PackageLocation,
  PoolOptions,
  Pools,
  RunnerCounts,
  Violation,
} from "./contract.ts";
import { DeploymentPool } from "./deployment/pool.ts";
import { lost } from "./outcomes.ts";

export function createPools(options: PoolOptions): Pools {
  return new AllPools(options);
}

const closingReason = "The server is closing";

/** States: *open*, then *closed*. */
class AllPools implements Pools {
  readonly #options: PoolOptions;
  /** Resolves when the scratch folders that a killed server left behind are removed. */
  readonly #cleaned: Promise<void>;
  /** Kept until the server ends: a pool remembers how often its runners had to be started. */
  readonly #pools = new Map<string, DeploymentPool>();
  readonly #stripper: TypeStripper;
  #closed = false;
  #whenClosed: Promise<void> | null = null;
  #onEmpty: () => void = () => {};

  constructor(options: PoolOptions) {
    const cleaned = cleanScratch(options.scratchRoot);
    this.#cleaned = cleaned;
    this.#stripper = new TypeStripper(options.boundary ?? ownBoundary, options.scratchRoot);
    this.#options = {
      ...options,
      locate: async (deploymentId) => {
        await cleaned;
        const location = await options.locate(deploymentId);
        const release = async (): Promise<void> => {
          if (this.#pools.get(deploymentId)?.retired === false)
            await this.#stripper.strip(location.directory);
          location.release?.();
        };
        return { ...location, release: () => void release() };
      },
    };
  }

  run(attempt: Attempt): Promise<Outcome> {
    if (this.#closed) return Promise.resolve(lost(closingReason));
    const pool = this.#pool(attempt.deploymentId);
    if (pool.has(attempt.executionId)) {
      return Promise.resolve(lost("An earlier attempt is still running here"));
    }
    return pool.run(attempt);
  }

  free(deploymentId: string): number {
    if (this.#closed) return 0;
    const { executionsPerRunner, runnersPerDeployment } = this.#options.limits;
    return this.#pools.get(deploymentId)?.free ?? executionsPerRunner * runnersPerDeployment;
  }

  ahead(deploymentId: string): number {
    return this.#closed ? 0 : (this.#pools.get(deploymentId)?.ahead ?? 0);
  }

  count(): RunnerCounts {
    const counts = { starting: 0, busy: 0, idle: 0, ending: 0, waitingAttempts: 0 };
    for (const pool of this.#pools.values()) pool.count(counts);
    return counts;
  }

  cancel(executionId: string): boolean {
    for (const pool of this.#pools.values()) if (pool.has(executionId)) return pool.cancel(executionId);
    return false;
  }

  async warm(deploymentId: string): Promise<void> {
    if (!this.#closed) await this.#pool(deploymentId).warm();
  }

  async validate(deploymentId: string, module: string, input: JsonObject): Promise<Violation[] | null> {
    return this.#closed ? null : this.#pool(deploymentId).validate(module, input);
  }

  async check(
    location: PackageLocation,
    modules: string[],
    timeoutMs: number,
    inputs?: InputsToCheck,
  ): Promise<ModuleCheck[]> {
    await this.#cleaned;
    return checkModules(this.#options, location, modules, timeoutMs, inputs);
  }

  retire(deploymentId: string): void {
    this.#pool(deploymentId).retire();
  }

  close(graceMs: number): Promise<void> {
    this.#whenClosed ??= this.#close(graceMs);
    return this.#whenClosed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#closed = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = () => {
      if ([...this.#pools.values()].every((pool) => pool.empty)) resolve();
    };
    for (const pool of this.#pools.values()) {
      pool.retire();
      pool.settleQueue(lost(closingReason));
    }
    this.#onEmpty();
    const timer = setTimeout(() => {
      for (const pool of this.#pools.values()) pool.handBackAll(closingReason);
    }, graceMs);
    await promise;
    clearTimeout(timer);
    await this.#stripper.close();
  }

  #pool(deploymentId: string): DeploymentPool {
    let pool = this.#pools.get(deploymentId);
    if (pool === undefined) {
      pool = new DeploymentPool(deploymentId, this.#options, () => this.#onEmpty());
      this.#pools.set(deploymentId, pool);
    }
    return pool;
  }
}

async function cleanScratch(scratchRoot: string): Promise<void> {
  const stale = await readdir(scratchRoot).catch((): string[] => []);
  await Promise.all(
    stale.map((name) => rm(join(scratchRoot, name), { recursive: true, force: true }).catch(() => {})),
  );
}
