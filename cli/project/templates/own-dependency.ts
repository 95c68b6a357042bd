import { isPublished, packageRoot } from "../../app/package-root.ts";
import { packageVersion } from "../../app/version.ts";
import type { Dependency } from "./package-json.ts";

/** How a project depends on this package under the name `svc`: by its version, or by its folder in a checkout. */
export async function ownDependency(): Promise<Dependency> {
  return isPublished ? `npm:svc-agents@^${await packageVersion()}` : `file:${packageRoot}`;
}
