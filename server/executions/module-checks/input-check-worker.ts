/** Checks the inputs of new executions for processes that run no users' code. */
import type { JsonObject } from "../../../project/json.ts";
import type { Engine } from "../../store/engine.ts";
import { claimInputChecks, finishInputCheck, type InputCheckRow } from "../../store/tables/input-checks.ts";
import { parseStored } from "../../store/tables/json.ts";
import { log, reasonOf } from "../../telemetry/log/index.ts";
import type { Pools } from "../pool/contract.ts";

/** Requests that one transaction claims. */
const maxClaimed = 50;

export interface InputCheckWorkerOptions {
  engine: Engine;
  /** Names this process. */
  owner: string;
  pools: Pick<Pools, "validate">;
}

/** States: *new*; *running* from `start`; *closed* from `close`. A notification that is lost costs a check, nothing else. */
export class InputCheckWorker {
  readonly #options: InputCheckWorkerOptions;
  #stop: () => void = () => {};
  #claiming: Promise<void> | null = null;
  #again = false;

  constructor(options: InputCheckWorkerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stop = this.#options.engine.listen("input_check", () => this.#claim());
  }

  async close(): Promise<void> {
    this.#stop();
    this.#again = false;
    await this.#claiming;
  }

  /** One claim at a time. A notification during a claim causes another one. */
  #claim(): void {
    this.#again = true;
    this.#claiming ??= this.#claimAll()
      .catch((error: unknown) => log.error("Inputs cannot be checked", { reason: reasonOf(error) }))
      .finally(() => {
        this.#claiming = null;
      });
  }

  async #claimAll(): Promise<void> {
    const { engine, owner } = this.#options;
    while (this.#again) {
      this.#again = false;
      const rows = await engine.write(() => claimInputChecks(owner, maxClaimed));
      if (rows.length === maxClaimed) this.#again = true;
      for (const row of rows) void this.#check(row);
    }
  }

  async #check(row: InputCheckRow): Promise<void> {
    const { engine, pools } = this.#options;
    try {
      const violations = await pools.validate(
        row.deployment_id,
        row.module,
        parseStored<JsonObject>(row.input),
      );
      await engine.write(() => finishInputCheck(row, JSON.stringify(violations)));
    } catch (error) {
      log.error("An input cannot be checked", { reason: reasonOf(error) });
    }
  }
}
