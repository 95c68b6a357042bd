/** Accepted webhooks per second of a URL, with the number of all 202s, for a comparison with the stored rows. */
import { load } from "../limit/child.ts";
import type { LoadOptions } from "../limit/load.ts";
import type { Sample } from "./interleave.ts";

export class Accepting {
  readonly #options: LoadOptions;
  accepted = 0;

  constructor(options: LoadOptions) {
    this.#options = { warmupSeconds: 0.5, ...options };
  }

  readonly measure = async (): Promise<Exclude<Sample, number>> => {
    const { perSecond, statuses, latencyMs } = await load(this.#options);
    this.accepted += statuses[202] ?? 0;
    return { value: perSecond, p50Ms: latencyMs.p50, p99Ms: latencyMs.p99 };
  };
}
