/**
 * Ends calls at their deadline (`grpc-timeout`, `connect-timeout-ms`) with `deadline_exceeded`. The library aborts the
 * signal of the call, and leaves it to each method to notice: a stream that ends quietly on abort would look complete.
 */
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { Interrupt, interruptible } from "../../interrupt.ts";

type Next = Parameters<Interceptor>[0];

export const deadlines: Interceptor = (next) => (request) => {
  const { header } = request;
  const hasDeadline = header.has("grpc-timeout") || header.has("connect-timeout-ms");
  return hasDeadline ? callInTime(next, request) : next(request);
};

async function callInTime(next: Next, request: Parameters<Next>[0]): ReturnType<Next> {
  const { signal } = request;
  throwIfLate(signal);
  const late = deadlineOf(signal);
  try {
    const response = await late.interrupt.wait(next(request));
    if (!response.stream) return response;
    return { ...response, message: untilDeadline(response.message, signal) };
  } finally {
    late.forget();
  }
}

async function* untilDeadline<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const late = deadlineOf(signal);
  try {
    yield* interruptible(items, late.interrupt);
    throwIfLate(signal);
  } finally {
    late.forget();
  }
}

/** `interrupt` is raised at the deadline. It ignores other aborts: a stream ends normally when the server stops. */
function deadlineOf(signal: AbortSignal): { interrupt: Interrupt; forget(): void } {
  const interrupt = new Interrupt();
  const onAbort = () => {
    if (isDeadline(signal.reason)) interrupt.raise(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  return { interrupt, forget: () => signal.removeEventListener("abort", onAbort) };
}

function throwIfLate(signal: AbortSignal): void {
  if (signal.aborted && isDeadline(signal.reason)) throw signal.reason;
}

function isDeadline(reason: unknown): boolean {
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
}
