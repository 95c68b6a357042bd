/** The calls of `ctx.run` of one execution. */
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import type { Attempt, AttemptHost, RunRequest } from "./interfaces.ts";
import { toJson } from "./output.ts";
import {
  type ErrorMessage,
  maxChildInputBytes,
  maxKeyLength,
  maxPendingChildExecutions,
  maxTargetNameLength,
} from "./protocol.ts";

interface Run {
  resolve(output: JsonValue): void;
  reject(error: unknown): void;
}

/** Calls that the server works on, by their index, and those that wait here because these are enough. */
export class ChildExecutions {
  readonly #owner: AttemptHost;
  readonly #attempt: Attempt;
  readonly #signal: AbortSignal;
  readonly #pending = new Map<number, Run>();
  readonly #waiting: { run: Run; send: () => void }[] = [];
  #count = 0;

  constructor(owner: AttemptHost, attempt: Attempt, signal: AbortSignal) {
    this.#owner = owner;
    this.#attempt = attempt;
    this.#signal = signal;
  }

  /** `ctx.run`. */
  start(name: unknown, input: unknown = {}, options: { key?: unknown } = {}): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      const request = this.#check(name, input, options);
      const index = this.#count++;
      const run = { resolve, reject };
      const send = (): void => {
        this.#pending.set(index, run);
        this.#owner.run(this.#attempt, { index, ...request });
      };
      if (this.#pending.size < maxPendingChildExecutions) send();
      else this.#waiting.push({ run, send });
    });
  }

  /** The server's answer. */
  async settle(
    index: number,
    childId: string,
    output: JsonValue | undefined,
    error: ErrorMessage | undefined,
  ): Promise<void> {
    const run = this.#pending.get(index);
    if (run === undefined) return;
    this.#pending.delete(index);
    this.#waiting.shift()?.send();
    if (error === undefined) {
      run.resolve(output ?? null);
      return;
    }
    try {
      run.reject(await this.#owner.modules.executionError(childId, error));
    } catch (failure) {
      run.reject(failure);
    }
  }

  abort(reason: Error): void {
    for (const run of this.#pending.values()) run.reject(reason);
    for (const { run } of this.#waiting) run.reject(reason);
    this.#pending.clear();
    this.#waiting.length = 0;
  }

  /** @throws TypeError or OutputError when the server would refuse the call */
  #check(name: unknown, input: unknown, { key }: { key?: unknown }): Omit<RunRequest, "index"> {
    if (typeof name !== "string" || name.length > maxTargetNameLength) {
      throw new TypeError(
        `Cannot run what is not named by a string of at most ${maxTargetNameLength} characters`,
      );
    }
    if (!this.#attempt.live) throw new Error(`Cannot run ${name}: the execution that asks has ended`);
    this.#signal.throwIfAborted();
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      throw new TypeError(`Cannot run ${name}, whose input must be an object: it is ${describe(input)}`);
    }
    if (key !== undefined && (typeof key !== "string" || key.length > maxKeyLength)) {
      throw new TypeError(
        `Cannot run ${name}, whose key must be a string of at most ${maxKeyLength} characters`,
      );
    }
    const json = toJson(input, `the input of ${name}`, maxChildInputBytes, this.#owner.limits.jsonDepth);
    return { name, input: JSON.parse(json) as JsonObject, key: key ?? null };
  }
}

function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
