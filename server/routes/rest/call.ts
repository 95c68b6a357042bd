/** A call of a method for a REST request. */
import { invalid } from "../../errors.ts";
import type { Response } from "../answer.ts";
import type { LocalCall, LocalCalls } from "../internal/local-calls.ts";

/** The header that Connect has for the deadline of a call. */
export const timeoutHeader = "connect-timeout-ms";

export interface Call<Method> extends LocalCall<Method> {
  calls: LocalCalls;
  response: Response;
}

/** The deadline of a call. Undefined without one. */
export function timeoutMs(header: Headers): number | undefined {
  const text = header.get(timeoutHeader);
  if (text === null) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw invalid(`Cannot use ${timeoutHeader} '${text.slice(0, 40)}': it must be 1 to 10 digits.`);
}
