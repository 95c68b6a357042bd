/**
 * Fetches the certificates of Amazon SNS and keeps them. A message is not authenticated when it names its certificate,
 * therefore fetches are bounded: a failed URL is not fetched again for a minute, each organization has at most 2 fetches at
 * a time and 10 failed ones per minute, and the caches have a size.
 */
import type { SnsTopic } from "../../../project/sns-topic.ts";
import { LruCache } from "../../lru.ts";
import type { FetchUrl } from "../fetch.ts";
import { readCertificate, type SigningKey } from "./certificate.ts";

/** `unusable` certificates stay so; `unavailable` ones may be fetched later. */
export type CertificateResult =
  | { ok: true; certificate: SigningKey }
  | { ok: false; rule: "unusable" | "unavailable"; reason: string };

const maxEntries = 1_000;
const failureMs = 60_000;
const maxConcurrent = 2;
const maxFailures = 10;

interface Usage {
  active: number;
  failures: number;
  /** The end of the minute that `failures` counts. */
  resetAtMs: number;
}

export class SnsCertificates {
  readonly #fetchUrl: FetchUrl;
  readonly #certificates = new LruCache<string, SigningKey>(maxEntries);
  readonly #failures = new LruCache<string, { result: CertificateResult; untilMs: number }>(maxEntries);
  readonly #fetches = new Map<string, Promise<CertificateResult>>();
  readonly #usage = new LruCache<string, Usage>(maxEntries);

  constructor(fetchUrl: FetchUrl) {
    this.#fetchUrl = fetchUrl;
  }

  /** @param url - a certificate URL of the topic's host */
  async get(orgId: string, url: string, topic: SnsTopic, nowMs: number): Promise<CertificateResult> {
    const certificate = this.#certificates.get(url);
    if (certificate !== undefined) return { ok: true, certificate };
    const failure = this.#failures.get(url);
    if (failure !== undefined && failure.untilMs > nowMs) return failure.result;
    const running = this.#fetches.get(url);
    if (running !== undefined) return running;
    const usage = this.#usageOf(orgId, nowMs);
    if (usage.active >= maxConcurrent || usage.failures >= maxFailures) {
      return unavailable("The organization fetches too many certificates.");
    }
    usage.active++;
    const fetching = this.#fetch(url, topic).then((result) => {
      if (result.ok) this.#certificates.set(url, result.certificate);
      else {
        usage.failures++;
        this.#failures.set(url, { result, untilMs: nowMs + failureMs });
      }
      return result;
    });
    this.#fetches.set(url, fetching);
    return fetching.finally(() => {
      usage.active--;
      this.#fetches.delete(url);
    });
  }

  async #fetch(url: string, topic: SnsTopic): Promise<CertificateResult> {
    let text: string;
    try {
      const { status, body } = await this.#fetchUrl(url);
      if (status !== 200) return unavailable(`The certificate was answered with ${status}.`);
      text = body;
    } catch {
      return unavailable("The certificate could not be fetched.");
    }
    const certificate = readCertificate(text, topic);
    return typeof certificate === "string"
      ? { ok: false, rule: "unusable", reason: certificate }
      : { ok: true, certificate };
  }

  #usageOf(orgId: string, nowMs: number): Usage {
    let usage = this.#usage.get(orgId);
    if (usage === undefined) {
      usage = { active: 0, failures: 0, resetAtMs: nowMs + failureMs };
      this.#usage.set(orgId, usage);
    }
    if (usage.resetAtMs <= nowMs) {
      usage.failures = 0;
      usage.resetAtMs = nowMs + failureMs;
    }
    return usage;
  }
}

function unavailable(reason: string): CertificateResult {
  return { ok: false, rule: "unavailable", reason };
}
