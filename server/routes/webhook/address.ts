import { fail } from "../../errors.ts";
import { addressOf } from "../../webhooks/address.ts";
import type { WebhookAddress } from "../../webhooks/trigger.ts";
import type { Match } from "../rest/http-rule.ts";

/** @throws ConnectError 404 when the path names no webhook */
export function readAddress({ variables }: Match, environment: string): WebhookAddress {
  const address = addressOf(
    {
      orgId: variables.org_id ?? "",
      agentName: variables.agent_name ?? "",
      workflowName: variables.workflow_name ?? "",
      slug: variables.slug ?? "",
      webhookSlug: variables.webhook_slug ?? "",
    },
    environment,
  );
  if (address === null) throw fail("WEBHOOK_NOT_FOUND", "There is no such webhook.");
  return address;
}
