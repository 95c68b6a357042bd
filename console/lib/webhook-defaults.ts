/** The defaults of mappings, which a deployment has among the settings of its webhooks. */
import type { JsonValue } from "../../project/json.ts";
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";

/** By path. */
export function defaultsOf(
  deployments: readonly Deployment[],
  of: { environment: string; name: string; slug: string },
): ReadonlyMap<string, JsonValue> {
  const settings = deployments
    .filter(({ environment }) => environment === of.environment)
    .flatMap(({ webhooks }) => webhooks)
    .find(({ name, slug }) => name === of.name && slug === of.slug)?.settings;
  const prefix = "default of ";
  return new Map(
    Object.entries(settings ?? {})
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), JSON.parse(value) as JsonValue]),
  );
}
