/** Checks the modules of deployments for processes that run no users' code, one request at a time. */
import type { Engine } from "../../store/engine.ts";
import { parseStored } from "../../store/tables/json.ts";
import {
  claimCheck,
  extendCheck,
  finishCheck,
  hasOpenCheck,
  type ModuleCheckRow,
} from "../../store/tables/module-checks.ts";
import { log, reasonOf } from "../../telemetry/log/index.ts";
import type { InputsToCheck, ModuleCheck } from "../pool/contract.ts";

export interface CheckResult {
  checks?: ModuleCheck[];
  /** One sentence: why the modules could not be checked. */
  error?: string;
  /** The reason of the error. Default: `MODULES_NOT_CHECKED`. */
  reason?: "NETWORK_NOT_ENFORCEABLE";
}

const leaseMs = 15_000;
const heartbeatMs = 5_000;
const pollMs = 1_000;

export interface CheckWorkerOptions {
  engine: Engine;
  /** Names this process. */
  owner: string;
  check(
    deploymentId: string,
    modules: string[],
    timeoutMs: number,
    inputs: InputsToCheck,
  ): Promise<CheckResult>;
}

/** States: *new*; *running* from `start`; *closed* from `close`, which waits for the current check. */
export class CheckWorker {
  readonly #options: CheckWorkerOptions;
  #timer: NodeJS.Timeout | null = null;
  #stop: () => void = () => {};
  #passing: Promise<void> | null = null;
  #closed = false;

  constructor(options: CheckWorkerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stop = this.#options.engine.listen("check", () => this.#pass());
    this.#timer = setInterval(() => this.#pass(), pollMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stop();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#passing;
  }

  #pass(): void {
    if (this.#closed) return;
    this.#passing ??= this.#handleAll()
      .catch((error: unknown) => {
        log.error("Cannot check modules", { reason: reasonOf(error) });
      })
      .finally(() => {
        this.#passing = null;
      });
  }

  async #handleAll(): Promise<void> {
    const { engine, owner } = this.#options;
    while (!this.#closed && (await engine.read(() => hasOpenCheck(Date.now())))) {
      const row = await engine.write(() => claimCheck(owner, Date.now() + leaseMs, Date.now()));
      if (row === undefined) return;
      await this.#handle(row);
    }
  }

  async #handle(row: ModuleCheckRow): Promise<void> {
    const { engine, check } = this.#options;
    const heartbeat = setInterval(() => {
      engine.write(() => extendCheck(row, Date.now() + leaseMs)).catch(() => {});
    }, heartbeatMs);
    try {
      const modules = parseStored<string[]>(row.modules);
      const inputs = parseStored<InputsToCheck>(row.inputs ?? "{}");
      const result = await check(row.deployment_id, modules, row.timeout_ms, inputs).catch(
        (error: unknown): CheckResult => ({
          error: `Cannot check the modules: ${error instanceof Error ? error.message : error}`,
        }),
      );
      await engine.write(() => finishCheck(row, JSON.stringify(result)));
    } finally {
      clearInterval(heartbeat);
    }
  }
}
