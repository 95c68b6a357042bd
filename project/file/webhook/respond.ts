import type { OutputResponse } from "../../definition.ts";
import { readChoice, readNumber } from "../scalars.ts";
import type { View } from "../view.ts";

const defaultTimeoutSeconds = 10;
const maxTimeoutSeconds = 60;

/** Reads `respond` of a webhook: a status, `output`, or a map. Null for the default and after a problem. */
export function readRespond(view: View | null): 200 | OutputResponse | null {
  if (view === null || view.value === 202) return null;
  const { value } = view;
  if (value === 200) return value;
  if (value === "output") return { kind: "output", timeoutSeconds: defaultTimeoutSeconds };
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return view.fail(`${view.path} must be 200, 202, output or a map, not ${view.description}`);
  }
  const fields = view.fields(["kind", "timeout", "late"]);
  const kindView = fields?.require("kind") ?? null;
  const kind = kindView === null ? null : readChoice(kindView, ["output"] as const);
  const timeoutView = fields?.get("timeout") ?? null;
  const timeoutSeconds =
    timeoutView === null
      ? defaultTimeoutSeconds
      : readNumber(timeoutView, { min: 0.1, max: maxTimeoutSeconds });
  const lateView = fields?.get("late") ?? null;
  const late = lateView === null ? 202 : lateView.value;
  if (late !== 200 && late !== 202) {
    return lateView?.fail(`${lateView.path} must be 200 or 202, not ${lateView.description}`) ?? null;
  }
  if (kind === null || timeoutSeconds === null) return null;
  return { kind, timeoutSeconds, ...(late === 200 && { late }) };
}
