/**
 * Ends calls at their deadline (`grpc-timeout`, `connect-timeout-ms`) with `deadline_exceeded`. The library aborts the
 * signal of the call, and leaves it to each method to notice: a stream that ends quietly on abort would look complete.
 */
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

export const deadlines: Interceptor = (next) => async (request) => {
  const { signal, header } = request;
  if (!header.has("grpc-timeout") && !header.has("connect-timeout-ms")) return next(request);
  throwIfLate(signal);
  const late = deadlineOf(signal);
  try {
    const response = await Promise.race([next(request), late.passed]);
    if (!response.stream) return response;
    return { ...response, message: untilDeadline(response.message, signal) };
  } finally {
    late.forget();
  }
};

async function* untilDeadline<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const late = deadlineOf(signal);
  const iterator = items[Symbol.asyncIterator]();
  let pending = false;
  try {
    for (;;) {
      pending = true;
      const item = await Promise.race([iterator.next(), late.passed]);
      pending = false;
      if (item.done === true) break;
      yield item.value;
    }
    throwIfLate(signal);
  } finally {
    late.forget();
    // A generator that waits for its next item returns only after it has one. The abort of the call ends it.
    const returned = iterator.return?.();
    if (pending) returned?.catch(() => {});
    else await returned;
  }
}

/** `passed` rejects at the deadline. It ignores other aborts: a stream ends normally when the server stops. */
function deadlineOf(signal: AbortSignal): { passed: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const onAbort = () => {
    if (isDeadline(signal.reason)) reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  return { passed: promise, forget: () => signal.removeEventListener("abort", onAbort) };
}

function throwIfLate(signal: AbortSignal): void {
  if (signal.aborted && isDeadline(signal.reason)) throw signal.reason;
}

function isDeadline(reason: unknown): boolean {
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
}
