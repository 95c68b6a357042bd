/** Reasons why webhooks of a deployment reject all requests, or will after a rotation of secrets. */
import type { ProjectDefinition } from "../../../project/definition.ts";
import type { OpenedSecrets } from "../../secrets/vault.ts";

/** One sentence for each secret that a webhook or `on_failure` names and that cannot be used. */
export function deploymentWarnings(
  { agents, workflows, onFailure }: ProjectDefinition,
  { values, unreadable }: OpenedSecrets,
): string[] {
  const hooks = [...agents, ...workflows].flatMap(({ name, webhooks }) =>
    webhooks.flatMap(({ slug, signature }) => {
      const named = signature?.secrets ?? [];
      const missing = named.filter((secret) => !Object.hasOwn(values, secret));
      const effect = missing.length === named.length ? "rejects all requests" : "uses only its other secret";
      return missing.map((secret) => {
        const reason = unreadable.includes(secret) ? "cannot be decrypted; set it again" : "is not set";
        return `The webhook ${name}/${slug} ${effect}: the secret ${secret} ${reason}.`;
      });
    }),
  );
  if (onFailure === undefined || !("url" in onFailure) || Object.hasOwn(values, onFailure.secret))
    return hooks;
  const reason = unreadable.includes(onFailure.secret) ? "cannot be decrypted; set it again" : "is not set";
  return [...hooks, `The webhook of on_failure is not called: the secret ${onFailure.secret} ${reason}.`];
}
