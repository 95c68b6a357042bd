import type { Organization } from "../../proto/svc/v1/organization_pb.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { fields } from "../terminal/table.ts";

/** The organization and the key of a command. */
export interface Identity {
  organization: Organization;
  baseUrl: string;
  apiKey: string;
  /** Null for the environment variables. */
  profile: string | null;
}

/** The identity in JSON, without the key. */
export function identityJson({ organization, baseUrl, apiKey, profile }: Identity): Record<string, unknown> {
  return {
    org_id: organization.orgId,
    organization: organization.name,
    base_url: baseUrl,
    key: keyLabel(apiKey),
    profile,
  };
}

export function identityText({ organization, baseUrl, apiKey, profile }: Identity): string {
  return fields([
    ["organization", sanitizeLine(organization.name)],
    ["organization ID", organization.orgId],
    ["address", baseUrl],
    ["API key", keyLabel(apiKey)],
    ["source", profile === null ? "SVC_API_KEY" : `profile ${sanitizeLine(profile)}`],
  ]);
}

/** The part of a key that is not secret: `svc_<id>_…`. */
function keyLabel(apiKey: string): string {
  return `${/^svc_[^_]{1,64}_/.exec(apiKey)?.[0] ?? ""}…`;
}
