/**
 * Ends streams whose API key is revoked or expires. Authentication checks a key only when a call starts, and a stream may
 * last for days. A notification of the store ends the streams of a revoked key in all processes; a timer finds expired keys.
 */
import type { ConnectError, Interceptor } from "@connectrpc/connect";
import { fail } from "../errors.ts";
import { Interrupt, interruptible } from "../interrupt.ts";
import type { Engine } from "../store/engine.ts";
import { getKeys, type KeyRow } from "../store/tables/organizations.ts";
import { log } from "../telemetry/log/index.ts";
import { type Caller, callerIn } from "./caller.ts";

type Next = Parameters<Interceptor>[0];

const intervalMs = 1_000;

export function isLive(row: KeyRow, nowMs: number): boolean {
  return row.revoked_at === null && (row.expires_at === null || row.expires_at > nowMs);
}

export class KeyWatch {
  readonly #engine: Engine;
  /** The listeners of open streams, by key id. */
  readonly #streams = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.listen("keys", (keyId) => {
      if (keyId === null || this.#streams.has(keyId)) void this.#check();
    });
  }

  /** Ends server streams with `unauthenticated` when their key is no longer valid. */
  interceptor(): Interceptor {
    return (next) => (request) => {
      const caller = callerIn(request.contextValues);
      const isWatched = request.method.methodKind !== "unary" && caller !== null;
      return isWatched ? this.#watched(next(request), caller) : next(request);
    };
  }

  async #watched(call: ReturnType<Next>, caller: Caller): ReturnType<Next> {
    const response = await call;
    return response.stream ? { ...response, message: this.#whileLive(response.message, caller) } : response;
  }

  async *#whileLive<T>(items: AsyncIterable<T>, caller: Caller): AsyncGenerator<T> {
    const interrupt = new Interrupt();
    const unwatch = this.#watch(caller.keyId, () => interrupt.raise(noLongerValid()));
    try {
      yield* interruptible(items, interrupt);
    } finally {
      unwatch();
    }
  }

  #watch(keyId: string, onDead: () => void): () => void {
    const listeners = this.#streams.get(keyId) ?? new Set();
    this.#streams.set(keyId, listeners.add(onDead));
    this.#timer ??= setInterval(() => void this.#check(), intervalMs).unref();
    return () => {
      listeners.delete(onDead);
      if (listeners.size === 0 && this.#streams.get(keyId) === listeners) this.#streams.delete(keyId);
      if (this.#streams.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  async #check(): Promise<void> {
    const keyIds = [...this.#streams.keys()];
    if (keyIds.length === 0) return;
    try {
      const rows = await this.#engine.read(() => getKeys(keyIds));
      const live = new Set(rows.filter((row) => isLive(row, Date.now())).map((row) => row.key_id));
      for (const keyId of keyIds) {
        if (live.has(keyId)) continue;
        for (const onDead of [...(this.#streams.get(keyId) ?? [])]) onDead();
      }
    } catch (error) {
      log.error("Cannot check the API keys of streams", { error });
    }
  }
}

function noLongerValid(): ConnectError {
  return fail("API_KEY_INVALID", "The API key was revoked or has expired.");
}
