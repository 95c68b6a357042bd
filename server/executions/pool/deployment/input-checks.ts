/** Inputs of new executions that wait for a runner, which checks them against the schema of their module. */
import type { JsonObject } from "../../../../project/json.ts";
import type { Violation } from "../contract.ts";
import type { RunnerProcess } from "../runner-process.ts";

/** The maximum time for the check of an input before its execution. A cold runner starts in a fraction of it. */
const validationMs = 5_000;

interface WaitingCheck {
  module: string;
  input: JsonObject;
  resolve: (violations: Violation[] | null) => void;
}

export class InputChecks {
  #waiting: WaitingCheck[] = [];

  /** The number of waiting inputs. */
  get length(): number {
    return this.#waiting.length;
  }

  /** @returns null when the input is valid, and when no runner answers in time */
  add(module: string, input: JsonObject): Promise<Violation[] | null> {
    return new Promise((resolve) => {
      const check: WaitingCheck = {
        module,
        input,
        resolve(violations) {
          clearTimeout(timer);
          resolve(violations);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== check);
        resolve(null);
      }, validationMs);
      this.#waiting.push(check);
    });
  }

  assign(runner: RunnerProcess): void {
    for (const { module, input, resolve } of this.#waiting.splice(0)) {
      void runner.validate(module, input).then(resolve);
    }
  }

  /** Gives up: the attempts check their inputs themselves. */
  giveUp(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(null);
  }
}
