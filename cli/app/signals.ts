/** The current action on SIGINT; null leaves SIGINT to another handler, as in `svc serve`. */
let onInterrupt: (() => void) | null = () => process.exit(130);
let exitsOnClosedPipe = true;

/**
 * Makes SIGINT exit with 130 on all runtimes, unless {@link withInterrupt} sets another action. Exits with 0 when the
 * reader of the output closes the pipe, as in `svc logs | head`.
 */
export function handleSignals(): void {
  process.on("SIGINT", () => onInterrupt?.());
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      if (exitsOnClosedPipe) process.exit(0);
    });
  }
}

/** Runs `work` with `handler` as the action on SIGINT. */
export async function withInterrupt<T>(handler: (() => void) | null, work: () => Promise<T>): Promise<T> {
  const before = onInterrupt;
  onInterrupt = handler;
  try {
    return await work();
  } finally {
    onInterrupt = before;
  }
}

/** Keeps the process running when its output is closed, as a server must. */
export function ignoreClosedPipe(): void {
  exitsOnClosedPipe = false;
}
