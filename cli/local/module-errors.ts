import type { ModuleCheck } from "../../server/executions/pool/index.ts";
import { CliError } from "../app/errors.ts";
import { count } from "../terminal/format.ts";

/** The error for modules that do not load. */
export function moduleErrors(failed: readonly ModuleCheck[]): CliError {
  const details = failed.map(({ module, error }) => {
    const place = error?.file === undefined ? module : `${error.file}:${error.line ?? 1}`;
    return `${place}: ${error?.name ?? "Error"}: ${error?.message ?? "the module cannot be loaded"}`;
  });
  return new CliError(
    `${count(failed.length, "module")} cannot be loaded:`,
    "Fix the reported problems and run the command again.",
    { details },
  );
}
