import type { CaseResult, Options } from "../runner/case.ts";
import type { Machine } from "../runner/machine.ts";

/** The document of `npm run bench -- --json`. */
export interface Results {
  machine: Machine;
  options: Options;
  cases: CaseResult[];
}
