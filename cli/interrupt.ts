/** What Ctrl-C does at present; null leaves it to others, as `svc serve` does. */
let onInterrupt: (() => void) | null = () => process.exit(130);

/** Makes Ctrl-C end the program with 130 on all runtimes, or do what {@link onInterruptDo} says. */
export function interruptible(): void {
  process.on("SIGINT", () => onInterrupt?.());
}

/** Runs `work`; Ctrl-C calls `handler` in the meantime instead of ending the program. */
export async function onInterruptDo<T>(handler: (() => void) | null, work: () => Promise<T>): Promise<T> {
  const before = onInterrupt;
  onInterrupt = handler;
  try {
    return await work();
  } finally {
    onInterrupt = before;
  }
}
