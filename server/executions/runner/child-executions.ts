/** The calls of `ctx.run` of one execution. */
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import type { Attempt, AttemptHost, ChildExecutionCall } from "./interfaces.ts";
import { toJson } from "./output.ts";
import {
  maxChildInputBytes,
  maxKeyLength,
  maxPendingChildExecutions,
  maxTargetNameLength,
  type SerializedError,
} from "./protocol.ts";

interface PendingCall {
  resolve(output: JsonValue): void;
  reject(error: unknown): void;
}

/** Calls that the server processes, by their index, and calls that wait here until fewer are pending. */
export class ChildExecutions {
  readonly #host: AttemptHost;
  readonly #attempt: Attempt;
  readonly #signal: AbortSignal;
  readonly #pending = new Map<number, PendingCall>();
  readonly #waiting: { call: PendingCall; send: () => void }[] = [];
  #count = 0;

  constructor(host: AttemptHost, attempt: Attempt, signal: AbortSignal) {
    this.#host = host;
    this.#attempt = attempt;
    this.#signal = signal;
  }

  /** `ctx.run`. */
  start(name: unknown, input: unknown = {}, options: { key?: unknown } = {}): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      const request = this.#check(name, input, options);
      const index = this.#count++;
      const call = { resolve, reject };
      const send = (): void => {
        this.#pending.set(index, call);
        this.#host.runChild(this.#attempt, { index, ...request });
      };
      if (this.#pending.size < maxPendingChildExecutions) send();
      else this.#waiting.push({ call, send });
    });
  }

  /** The server's answer. */
  async settle(
    index: number,
    childId: string,
    output: JsonValue | undefined,
    error: SerializedError | undefined,
  ): Promise<void> {
    const call = this.#pending.get(index);
    if (call === undefined) return;
    this.#pending.delete(index);
    this.#waiting.shift()?.send();
    if (error === undefined) {
      call.resolve(output ?? null);
      return;
    }
    try {
      call.reject(await this.#host.modules.executionError(childId, error));
    } catch (failure) {
      call.reject(failure);
    }
  }

  abort(reason: Error): void {
    for (const call of this.#pending.values()) call.reject(reason);
    for (const { call } of this.#waiting) call.reject(reason);
    this.#pending.clear();
    this.#waiting.length = 0;
  }

  /** @throws TypeError or OutputError when the server would reject the call */
  #check(name: unknown, input: unknown, { key }: { key?: unknown }): Omit<ChildExecutionCall, "index"> {
    if (typeof name !== "string" || name.length > maxTargetNameLength) {
      throw new TypeError(
        `Cannot run a target whose name is not a string of at most ${maxTargetNameLength} characters`,
      );
    }
    if (!this.#attempt.live) throw new Error(`Cannot run ${name}: the calling execution has ended`);
    this.#signal.throwIfAborted();
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      throw new TypeError(`Cannot run ${name}: its input must be an object, not ${describe(input)}`);
    }
    if (key !== undefined && (typeof key !== "string" || key.length > maxKeyLength)) {
      throw new TypeError(
        `Cannot run ${name}: its key must be a string of at most ${maxKeyLength} characters`,
      );
    }
    const json = toJson(input, `the input of ${name}`, maxChildInputBytes, this.#host.limits.jsonDepth);
    const spanId = this.#host.activeSpanId(this.#attempt);
    return { name, input: JSON.parse(json) as JsonObject, key: key ?? null, spanId };
  }
}

function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
