/** A clock that a test advances. Stores use `setImmediate`, which stays real. */
import { onTestFinished, vi } from "vitest";

export function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Advances the clock in steps, after each of which the store completes its operations. */
export async function pass(ms: number, stepMs = 500): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    await vi.advanceTimersByTimeAsync(stepMs);
    await settle();
  }
}

/** Lets pending operations of embedded stores complete. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
