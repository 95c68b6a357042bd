import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Organization } from "../../proto/svc/v1/organization_pb.ts";
import { dateOf, timeAndAge } from "../api/timestamps.ts";
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
  keyExpiresAt: Timestamp | undefined;
}

/** The identity in JSON, without the key. */
export function identityJson(identity: Identity): Record<string, unknown> {
  const { organization, baseUrl, apiKey, profile, source, keyExpiresAt } = identity;
  return {
    org_id: organization.orgId,
    organization: organization.name,
    base_url: baseUrl,
    key: keyLabel(apiKey),
    key_expires_at: dateOf(keyExpiresAt)?.toISOString() ?? null,
    profile,
    source,
  };
}

export function identityText({ organization, baseUrl, apiKey, keyExpiresAt, ...from }: Identity): string {
  return fields([
    ["organization", sanitizeLine(organization.name)],
    ["organization ID", organization.orgId],
    ["address", baseUrl],
    ["API key", keyLabel(apiKey)],
    ["expires", timeAndAge(keyExpiresAt)],
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
