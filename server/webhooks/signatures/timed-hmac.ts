/** Senders whose header lists a time and signatures: `t=<seconds>,v1=<hex>[,v1=<hex>]`. */
import { someHmacMatches } from "./digest.ts";
import type { HmacHeader } from "./hmac-header.ts";
import { header, idOf, refuseTime } from "./request.ts";
import type { Scheme } from "./scheme.ts";
import { accepted, malformed, mismatch, missing } from "./scheme.ts";

export interface TimedHmac extends Pick<HmacHeader, "payloadId"> {
  /** Name of the header, in lower case. */
  name: string;
  /** Separates the parts. */
  separator: string;
  /** Begins the part with the time. */
  time: string;
  /** Begins a part with a signature. Other parts are ignored. */
  signature: string;
  /** Separates the time and the body in the signed content. */
  joint: string;
}

const maxParts = 16;

/** The signature is the hex HMAC-SHA256 of the time, the joint and the body. */
export function timedHmac(options: TimedHmac): Scheme {
  const { name, separator, time, signature, joint } = options;
  return {
    signsDeliveryId: options.payloadId !== undefined,
    verify({ secrets, headers, body, nowSeconds }) {
      const value = header(headers, name);
      if (value === null) return missing(name);
      const parts = value.split(separator, maxParts + 1);
      const [seconds, ...moreTimes] = valuesOf(parts, time);
      const candidates = valuesOf(parts, signature);
      const isWhole = seconds !== undefined && moreTimes.length === 0 && candidates.length > 0;
      if (parts.length > maxParts || !isWhole) {
        return malformed(name, `at most ${maxParts} parts, one '${time}' and a '${signature}' among them`);
      }
      const untimely = refuseTime(seconds, name, nowSeconds);
      if (untimely !== null) return untimely;
      const keys = { keys: secrets, keyEncoding: "utf8" } as const;
      const before = `${seconds}${joint}`;
      const hmac = { algorithm: "sha256", encoding: "hex", ...keys, before, body } as const;
      return someHmacMatches(hmac, candidates) ? accepted : mismatch;
    },
    deliveryId: (_headers, payload) => idOf(options.payloadId?.(payload)),
  };
}

function valuesOf(parts: readonly string[], prefix: string): string[] {
  return parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));
}
