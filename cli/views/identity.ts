import type { Organization } from "../../proto/svc/v1/organization_pb.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { fields } from "../terminal/table.ts";

/** The organization and the key of a command. */
export interface Identity {
  organization: Organization;
  baseUrl: string;
  apiKey: string;
  /** The name of the profile; null for another source. */
  profile: string | null;
  source: "environment" | "profile" | "dev";
}

/** The identity in JSON, without the key. */
export function identityJson(identity: Identity): Record<string, unknown> {
  const { organization, baseUrl, apiKey, profile, source } = identity;
  return {
    org_id: organization.orgId,
    organization: organization.name,
    base_url: baseUrl,
    key: keyLabel(apiKey),
    profile,
    source,
  };
}

export function identityText({ organization, baseUrl, apiKey, ...from }: Identity): string {
  return fields([
    ["organization", sanitizeLine(organization.name)],
    ["organization ID", organization.orgId],
    ["address", baseUrl],
    ["API key", keyLabel(apiKey)],
    ["source", sourceText(from)],
  ]);
}

function sourceText({ profile, source }: Pick<Identity, "profile" | "source">): string {
  if (source === "profile") return `profile ${sanitizeLine(profile ?? "")}`;
  return source === "dev" ? "`svc dev` of this project" : "SVC_API_KEY";
}

/** The part of a key that is not secret: `svc_<id>_…`. */
function keyLabel(apiKey: string): string {
  return `${/^svc_[^_]{1,64}_/.exec(apiKey)?.[0] ?? ""}…`;
}
