/**
 * The health service of gRPC. The empty name is the whole server; the status of each service is that of the server.
 * https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
import { create } from "@bufbuild/protobuf";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import {
  type Health,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../proto/grpc/health/v1/health_pb.ts";
import { fail, notFound } from "../../errors.ts";
import type { Readiness } from "./readiness.ts";

/** Open Watch streams of the process: their callers are anonymous. */
const maxWatchers = 1_000;

export function grpcHealth(readiness: Readiness, names: readonly string[]): ServiceImpl<typeof Health> {
  const known = new Set(["", ...names]);
  const status = async () => ((await readiness.check()) ? Status.SERVING : Status.NOT_SERVING);
  return {
    async check({ service }) {
      if (!known.has(service)) throw notFound(`There is no service '${service.slice(0, 200)}'.`);
      return { status: await status() };
    },
    async list() {
      const current = { status: await status() };
      return { statuses: Object.fromEntries([...known].map((name) => [name, current])) };
    },
    async *watch({ service }, { signal }) {
      if (readiness.watchers >= maxWatchers) {
        throw fail(
          Code.ResourceExhausted,
          `The server has ${maxWatchers} open Watch streams, which is the limit.`,
        );
      }
      const changes = new Changes(signal);
      const unwatch = readiness.watch((ready) => {
        if (known.has(service)) changes.set(ready ? Status.SERVING : Status.NOT_SERVING);
      });
      try {
        changes.set(known.has(service) ? await status() : Status.SERVICE_UNKNOWN);
        yield* changes.responses();
      } finally {
        unwatch();
      }
    },
  };
}

/** The status of a stream, of which only the newest value is kept for a slow reader. */
class Changes {
  readonly #signal: AbortSignal;
  #status: Status = Status.UNKNOWN;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  set(status: Status): void {
    this.#status = status;
    this.#wake();
  }

  async *responses(): AsyncGenerator<HealthCheckResponse> {
    let sent: Status = Status.UNKNOWN;
    for (;;) {
      if (this.#status !== sent) {
        sent = this.#status;
        yield create(HealthCheckResponseSchema, { status: sent });
      } else if (this.#signal.aborted) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
