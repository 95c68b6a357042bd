/** Reads the webhook's address from the fields of a TriggerWebhookRequest. */
import type { WebhookAddress } from "./trigger.ts";

export interface AddressFields {
  orgId: string;
  agentName: string;
  workflowName: string;
  slug: string;
  webhookSlug: string;
}

/** Null when the fields name no webhook, or more than one. */
export function addressOf(fields: AddressFields, environment: string): WebhookAddress | null {
  const { orgId, agentName, workflowName, slug, webhookSlug } = fields;
  const named = [agentName, workflowName, webhookSlug].filter((text) => text !== "");
  if (orgId === "" || named.length !== 1) return null;
  if (webhookSlug !== "") return slug === "" ? { orgId, environment, target: null, slug: webhookSlug } : null;
  if (slug === "") return null;
  const target =
    agentName === ""
      ? { kind: "workflow" as const, name: workflowName }
      : { kind: "agent" as const, name: agentName };
  return { orgId, environment, target, slug };
}
