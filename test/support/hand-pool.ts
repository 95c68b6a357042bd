import type { Attempt, Outcome, Pools } from "../../server/executions/pool/contract.ts";

/** A pool whose attempts end when the test ends them. */
export class HandPool implements Pools {
  readonly attempts: { attempt: Attempt; end(outcome: Outcome): void }[] = [];
  readonly cancelled: string[] = [];

  run(attempt: Attempt): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.attempts.push({ attempt, end: resolve });
    return promise;
  }

  free(): number {
    return 10 - this.attempts.length;
  }

  ahead(): number {
    return 0;
  }

  count() {
    return { starting: 0, busy: 0, idle: 0, ending: 0, waitingAttempts: 0 };
  }

  cancel(executionId: string): boolean {
    this.cancelled.push(executionId);
    return true;
  }

  async warm(): Promise<void> {}
  async validate(): Promise<null> {
    return null;
  }

  async check(): Promise<never[]> {
    return [];
  }
  retire(): void {}
  async close(): Promise<void> {
    for (const { end } of this.attempts) end({ type: "lost", reason: "closing", suspect: false });
  }
}
