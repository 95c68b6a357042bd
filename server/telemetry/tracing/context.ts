/**
 * Trace contexts: the headers `traceparent` and `tracestate` of W3C Trace Context (https://www.w3.org/TR/trace-context/). In
 * the store and between processes a context is one text: the traceparent and, after a space, the tracestate.
 */
import { createHash, randomFillSync } from "node:crypto";

export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  traceId: string;
  /** 16 lower-case hexadecimal digits. */
  spanId: string;
  sampled: boolean;
  /** Empty for none. */
  state: string;
}

/** Of a tracestate. A longer one is dropped, as the standard allows. */
const maxStateLength = 512;
const parent = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const member = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x21-\x2b\x2d-\x3c\x3e-\x7e\x20]{0,256}$/;

/** @returns null when the header is absent or malformed */
export function parseHeaders(
  traceparent: string | readonly string[] | undefined,
  tracestate: string | readonly string[] | undefined,
): TraceContext | null {
  if (typeof traceparent !== "string") return null;
  const [, version, traceId = "", spanId = "", flags = "", rest] = parent.exec(traceparent.trim()) ?? [];
  if (version === undefined || (version === "00" && rest !== undefined)) return null;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, sampled, state: stateOf(tracestate) };
}

export function formatContext({ traceId, spanId, sampled, state }: TraceContext): string {
  const text = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
  return state === "" ? text : `${text} ${state}`;
}

/** Reads the text of `formatContext`. */
export function parseContext(text: string): TraceContext | null {
  const space = text.indexOf(" ");
  return space < 0
    ? parseHeaders(text, undefined)
    : parseHeaders(text.slice(0, space), text.slice(space + 1));
}

/**
 * The context of an execution that no traced request has started, for example that of a schedule. It follows from the id, so
 * that all attempts share a trace, whichever process runs them.
 */
export function traceIdOf(executionId: string): string {
  return createHash("sha256").update(executionId).digest("hex").slice(0, 32);
}

const entropy = Buffer.alloc(4096);
let used = entropy.length;

/** @param bytes - 16 for a trace, 8 for a span */
export function randomHex(bytes: 8 | 16): string {
  if (used + bytes > entropy.length) {
    randomFillSync(entropy);
    used = 0;
  }
  used += bytes;
  return entropy.toString("hex", used - bytes, used);
}

function stateOf(header: string | readonly string[] | undefined): string {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  if (typeof text !== "string" || text.length > maxStateLength) return "";
  const members = text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  return members.length <= 32 && members.every((one) => member.test(one)) ? members.join(",") : "";
}
