/** What schemes read from a request. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Delivery, Verdict } from "./scheme.ts";
import { missing, refused } from "./scheme.ts";

/** Seconds that a signed time may differ from the server's, in either direction. */
const toleranceSeconds = 300;

/** A header's text; null when it is absent, empty or a list. `name` in lower case. */
export function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** Refuses a time, as the sender wrote it, that is not whole seconds of Unix time near the server's; else null. */
export function refuseTime(seconds: string | null, name: string, nowSeconds: number): Verdict | null {
  if (seconds === null) return missing(name);
  if (!/^[0-9]{1,12}$/.test(seconds)) {
    return refused("time", `The time in ${name} must be whole seconds of Unix time.`);
  }
  const ageSeconds = nowSeconds - Number(seconds);
  if (Math.abs(ageSeconds) <= toleranceSeconds) return null;
  const direction = ageSeconds > 0 ? "behind" : "ahead of";
  return refused(
    "time",
    `The time in ${name} is ${Math.ceil(Math.abs(ageSeconds))} s ${direction} the server's; ${toleranceSeconds} s are allowed.`,
  );
}

/** A delivery known by an id of the sender's, which may be of any type and length. */
export function deliveryOf(id: unknown): Delivery {
  return { deliveryId: typeof id === "string" && id !== "" ? shortId(id) : null, challenge: null };
}

/** An id that is long or holds more than visible ASCII is known by its SHA-256, so that it stays whole and fits. */
function shortId(id: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(id)) return id;
  return `sha256:${createHash("sha256").update(id).digest("hex")}`;
}
