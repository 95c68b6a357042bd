import type { ModuleCheck } from "../../server/executions/pool/index.ts";
import { CliError } from "../app/errors.ts";
import { clean, count } from "../terminal/format.ts";

/** What is said of modules that cannot be loaded. */
export function brokenModules(checks: readonly ModuleCheck[]): CliError {
  const details = checks.map(({ module, error }) => {
    const place = error?.file === undefined ? module : `${error.file}:${error.line ?? 1}`;
    return clean(`${place}: ${error?.name ?? "Error"}: ${error?.message ?? "the module cannot be loaded"}`);
  });
  return new CliError(
    `${count(checks.length, "module")} cannot be loaded:`,
    "Mend the places named above, then repeat.",
    { details },
  );
}
