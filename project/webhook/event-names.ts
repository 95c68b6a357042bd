/** Where senders name the event of a request. Names are made of parts, each with the sources of its text. */
import type { SignatureScheme } from "../definition.ts";

/** The sources of one part, in the grammar of field mappings. The first one with a value counts. */
export type NamePart = readonly string[];

/**
 * The senders that name one event per request. Absent are senders without event names, and senders whose requests hold
 * several events: Asana, HubSpot, LINE, Microsoft Graph and SendGrid.
 */
const eventNames: Partial<Record<SignatureScheme, readonly NamePart[]>> = {
  bitbucket: [["$header.x-event-key"]],
  calendly: [["event"]],
  discord: [["event.type", "data.name", "type"]],
  github: [["$header.x-github-event"], ["action"]],
  gitlab: [["object_kind", "event_name"], ["object_attributes.action"]],
  google: [["$header.x-goog-resource-state"]],
  jira: [["webhookEvent"]],
  lemonsqueezy: [["meta.event_name"]],
  linear: [["type"], ["action"]],
  mailgun: [["event-data.event"]],
  meta: [["object"]],
  paddle: [["event_type"]],
  shopify: [["$header.x-shopify-topic", "$header.shopify-topic"]],
  slack: [["event.type", "command", "type"]],
  square: [["type"]],
  standard: [["type"]],
  stripe: [["type"]],
  svix: [["type"]],
  trello: [["action.type"]],
  twilio: [["EventType", "MessageStatus", "SmsStatus", "CallStatus"]],
  typeform: [["event_type"]],
  zoom: [["event"]],
};

/** Null for a scheme whose sender does not name the events of requests. */
export function eventNameOf(scheme: SignatureScheme): readonly NamePart[] | null {
  return eventNames[scheme] ?? null;
}
