import type { ProjectDefinition } from "../../project/definition.ts";
import { docsPath } from "../app/package-root.ts";
import { count } from "../terminal/format.ts";

/** A warning for each retry policy that has no effect. */
export function retryWarnings({ agents, workflows }: ProjectDefinition): string[] {
  return [...agents, ...workflows]
    .filter(({ hasUnusedRetryPolicy }) => hasUnusedRetryPolicy)
    .map(({ name }) => `The retry_policy of "${name}" has no effect without \`enable_retry: true\`.`);
}

/** A hint about webhooks without signature verification; empty when there are none. */
export function unsignedHint(definition: ProjectDefinition): string {
  const unsigned = [...definition.agents, ...definition.workflows].flatMap(({ name, webhooks }) =>
    webhooks.filter(({ signature }) => signature === null).map(({ slug }) => `${name}/${slug}`),
  );
  if (unsigned.length === 0) return "";
  const names = unsigned.length > 2 ? count(unsigned.length, "webhook") : unsigned.join(" and ");
  const verb = unsigned.length === 1 ? "verifies" : "verify";
  return `${names} ${verb} no signature, so the URL is the only secret. See ${docsPath("webhooks/signatures.md")}.`;
}
