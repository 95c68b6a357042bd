/** The fields of a structured log entry: the last value of a call of `ctx.log`, when it is a plain object after a text. */
import type { LogSink } from "../interfaces.ts";
import { toJson } from "../output.ts";

/** A directive of the formatter that takes a value. */
const directive = /%[sdifjoOc]/g;

/** Separates the fields from the values of the text. Fields that are not JSON or exceed the limit belong to the text. */
export function splitFields(
  values: unknown[],
  sink: Pick<LogSink, "limits" | "describe">,
): { texts: unknown[]; fields?: string } {
  const [text] = values;
  const last = values.at(-1);
  if (values.length < 2 || typeof text !== "string" || !isPlain(last)) return { texts: values };
  const texts = values.slice(0, -1);
  const { logLineBytes, jsonDepth } = sink.limits;
  if ((text.replaceAll("%%", "").match(directive)?.length ?? 0) >= texts.length) return { texts: values };
  try {
    const members = Object.entries(last).map(([name, value]) => [name, storable(value, sink)]);
    const fields = toJson(Object.fromEntries(members), "the fields", logLineBytes, jsonDepth);
    return { texts, fields };
  } catch {
    return { texts: values };
  }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** JSON has no errors, large integers and infinite numbers. */
function storable(value: unknown, sink: Pick<LogSink, "describe">): unknown {
  if (value instanceof Error) return sink.describe(value);
  const isOther = typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value));
  return isOther ? String(value) : value;
}
