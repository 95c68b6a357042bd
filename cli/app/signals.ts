/** What Ctrl-C does at present; null leaves it to others, as `svc serve` does. */
let onInterrupt: (() => void) | null = () => process.exit(130);
let needsReaders = true;

/**
 * Makes Ctrl-C end the program with 130 on all runtimes, or do what {@link onInterruptDo} says; and ends it quietly
 * when the reader of its output has seen enough (`svc logs | head`), which is no failure of ours.
 */
export function handleProcessEvents(): void {
  process.on("SIGINT", () => onInterrupt?.());
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      if (needsReaders) process.exit(0);
    });
  }
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

/** From now on the program goes on when nobody reads its output any longer, as a server must. */
export function outliveReaders(): void {
  needsReaders = false;
}
