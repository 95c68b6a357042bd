/** The pools of a process that runs no users' code: workers check the modules of new deployments, and run executions. */
import type { JsonObject } from "../../../project/json.ts";
import { fail } from "../../errors.ts";
import { orderedId } from "../../ids.ts";
import type { Engine } from "../../store/engine.ts";
import { deleteInputCheck, getInputCheck, requestInputCheck } from "../../store/tables/input-checks.ts";
import { parseStored } from "../../store/tables/json.ts";
import { deleteCheck, getCheck, requestCheck } from "../../store/tables/module-checks.ts";
import type {
  InputsToCheck,
  ModuleCheck,
  Outcome,
  PackageLocation,
  Pools,
  RunnerCounts,
  Violation,
} from "../pool/contract.ts";
import type { CheckResult } from "./check-worker.ts";

/** How often the request is read without a notification, which may be lost. */
const fallbackMs = 1_000;
/** For how long a new execution waits for the check of its input. A worker needs a runner and two transactions. */
const validationMs = 5_000;
/** For how long the request waits for a worker. */
const claimMs = 30_000;

export interface RemotePoolsOptions {
  engine: Engine;
  organizationOf(deploymentId: string): Promise<string>;
  /** Aborted when the server shuts down. */
  closing: AbortSignal;
}

export class RemotePools implements Pools {
  readonly #options: RemotePoolsOptions;
  /** Wake the waiting checks. */
  readonly #waiting = new Set<() => void>();
  /** Wake the waiting checks of inputs, by their id. */
  readonly #checking = new Map<string, () => void>();

  constructor(options: RemotePoolsOptions) {
    this.#options = options;
    options.engine.listen("check", () => {
      for (const wake of [...this.#waiting]) wake();
    });
    options.engine.listen("input_checked", (checkId) => {
      if (checkId !== null) this.#checking.get(checkId)?.();
    });
  }

  async check(
    { deploymentId }: PackageLocation,
    modules: string[],
    timeoutMs: number,
    inputs: InputsToCheck = {},
  ): Promise<ModuleCheck[]> {
    const { engine, organizationOf } = this.#options;
    const orgId = await organizationOf(deploymentId);
    const createdAt = Date.now();
    await engine.write(() =>
      requestCheck({
        org_id: orgId,
        deployment_id: deploymentId,
        modules: JSON.stringify(modules),
        inputs: JSON.stringify(inputs),
        timeout_ms: timeoutMs,
        created_at: createdAt,
      }),
    );
    try {
      const { checks, error, reason } = await this.#result(orgId, deploymentId, createdAt);
      if (error !== undefined) throw fail(reason ?? "MODULES_NOT_CHECKED", error);
      return checks ?? [];
    } finally {
      await engine.write(() => deleteCheck(orgId, deploymentId));
    }
  }

  async #result(orgId: string, deploymentId: string, createdAt: number): Promise<CheckResult> {
    const { engine, closing } = this.#options;
    for (;;) {
      // Before the read, so that no notification is missed.
      const changed = this.#changed();
      const row = await engine.read(() => getCheck(orgId, deploymentId));
      if (row === undefined || closing.aborted) {
        throw fail("MODULES_NOT_CHECKED", "The check of the modules was interrupted; deploy again.");
      }
      if (row.result !== null) return parseStored<CheckResult>(row.result);
      if (row.owner === null && Date.now() - createdAt > claimMs) {
        throw fail(
          "MODULES_NOT_CHECKED",
          `Cannot check the modules: no worker answered within ${claimMs / 1000} s. Start one with \`svc serve --role worker\`.`,
        );
      }
      await changed;
    }
  }

  /** Resolves at the next notification, or after `fallbackMs`. */
  #changed(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, fallbackMs);
      this.#waiting.add(wake);
    });
  }

  async validate(deploymentId: string, module: string, input: JsonObject): Promise<Violation[] | null> {
    const { engine, organizationOf, closing } = this.#options;
    const orgId = await organizationOf(deploymentId);
    const checkId = orderedId("chk");
    // Before the request, so that no notification is missed.
    const checked = Promise.withResolvers<void>();
    this.#checking.set(checkId, checked.resolve);
    const timer = setTimeout(checked.resolve, validationMs);
    try {
      await engine.write(() =>
        requestInputCheck({
          org_id: orgId,
          check_id: checkId,
          deployment_id: deploymentId,
          module,
          input: JSON.stringify(input),
          created_at: Date.now(),
        }),
      );
      if (!closing.aborted) await checked.promise;
      const row = await engine.read(() => getInputCheck(orgId, checkId));
      return parseStored<Violation[] | null>(row?.result ?? "null");
    } finally {
      clearTimeout(timer);
      this.#checking.delete(checkId);
      await engine.write(() => deleteInputCheck(orgId, checkId));
    }
  }

  async run(): Promise<Outcome> {
    return { type: "lost", reason: "This process runs no executions", suspect: false };
  }

  count(): RunnerCounts {
    return { starting: 0, busy: 0, idle: 0, ending: 0, waitingAttempts: 0 };
  }

  free(): number {
    return 0;
  }

  ahead(): number {
    return 0;
  }

  cancel(): boolean {
    return false;
  }

  async warm(): Promise<void> {}

  retire(): void {}

  async close(): Promise<void> {}
}
