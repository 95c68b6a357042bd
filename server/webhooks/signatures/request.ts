/** Helpers of the schemes that read a request. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isJsonObject, type JsonObject } from "../../../project/json.ts";
import type { Verification } from "./scheme.ts";
import { accepted, missing, refused } from "./scheme.ts";

/** Seconds that a signed time may differ from the server's, in either direction. */
const defaultToleranceSeconds = 300;

/** A header's text; null when it is absent, empty or a list. `name` in lower case. */
export function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** Refuses a time that is not whole seconds of Unix time near the server's; null when it is accepted. */
export function refuseTime(
  seconds: string | null,
  name: string,
  nowSeconds: number,
  toleranceSeconds: number = defaultToleranceSeconds,
): Verification | null {
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

/** Accepts a time in milliseconds of Unix time that is near the server's. */
export function checkMilliseconds(milliseconds: unknown, name: string, nowSeconds: number): Verification {
  const isWhole = typeof milliseconds === "number" && Number.isSafeInteger(milliseconds) && milliseconds >= 0;
  if (!isWhole) return refused("time", `The time in ${name} must be whole milliseconds of Unix time.`);
  return refuseTime(`${Math.floor(milliseconds / 1000)}`, name, nowSeconds) ?? accepted;
}

/** The body as a JSON object, for schemes that sign or authenticate by values of the body; null for any other body. */
export function parsedObject(body: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The fields of a body that is JSON or a form, whatever its content type is: an object of the signed values. */
export function signedFields(body: Uint8Array): JsonObject {
  return parsedObject(body) ?? Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()));
}

/** The sender's id, which may have any type and length. */
export function idOf(id: unknown): string | null {
  return typeof id === "string" && id !== "" ? shortId(id) : null;
}

/** An id that is long or holds more than visible ASCII is replaced by its SHA-256. */
function shortId(id: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(id)) return id;
  return `sha256:${createHash("sha256").update(id).digest("hex")}`;
}
