/** The filter of a request for log entries. */
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { TailLogsRequest } from "../../../proto/svc/v1/execution_pb.ts";
import { fail } from "../../errors.ts";
import { logFieldFilters } from "../../store/dialects/statements.ts";
import type { FieldForms, LogFilter } from "../../store/tables/logs.ts";

const maxFilterLength = 300;
const levels = ["debug", "info", "warn", "error"];

export type LogRequest = Pick<
  TailLogsRequest,
  "name" | "environment" | "audit" | "executionId" | "since" | "level" | "contains" | "fields"
>;

/** @throws ConnectError `invalid_argument` for invalid filters by fields */
export function filterOf(request: LogRequest): LogFilter {
  const { name, environment, audit, executionId, since, level, contains, fields } = request;
  if (fields.length > logFieldFilters) {
    throw refuse(`Cannot filter by ${fields.length} fields: at most ${logFieldFilters} are possible.`);
  }
  return {
    name,
    environment,
    audit,
    executionIds: executionId === "" ? [] : [executionId],
    levels: level === "" ? "" : levels.slice(levels.indexOf(level)).join(" "),
    sinceMs: since === undefined ? 0 : timestampMs(since),
    contains,
    fields: fields.map(formsOf),
  };
}

/**
 * The member of a JSON object with a string, and with another value before the next member and before the end. JSON escapes
 * quotes in strings, so that a string does not contain these texts.
 */
function formsOf(filter: string): FieldForms {
  const at = filter.indexOf("=");
  if (at < 1 || filter.length > maxFilterLength) {
    const rule = `name=value of at most ${maxFilterLength} characters`;
    throw refuse(`Cannot filter by '${filter.slice(0, 80)}': it must be ${rule}.`);
  }
  const member = `${JSON.stringify(filter.slice(0, at))}:`;
  const value = filter.slice(at + 1);
  const text = member + JSON.stringify(value);
  const scalar = scalarOf(value);
  return scalar === null ? [text, text, text] : [text, `${member}${scalar},`, `${member}${scalar}}`];
}

/** The JSON of a number, a boolean or null; null for other texts. */
function scalarOf(value: string): string | null {
  if (/^(?:true|false|null)$/.test(value)) return value;
  return value.trim() !== "" && Number.isFinite(Number(value)) ? JSON.stringify(Number(value)) : null;
}

function refuse(message: string): Error {
  return fail("INVALID_LOG_FILTER", message, { metadata: { field: "fields" } });
}
