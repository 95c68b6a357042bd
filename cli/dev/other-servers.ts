/** The other servers that `svc dev` and the commands next to it may meet. */
import { connectionTo } from "../api/connection.ts";
import { toCliError } from "../api/error-messages.ts";
import type { DevServer } from "../profiles/dev-server.ts";
import { devProfile, selectConnection } from "../profiles/select.ts";

const probeMs = 3_000;

/** Whether a server runs. After a crash, its process ID may belong to another process. */
export async function answers({ base_url: baseUrl, api_key: apiKey }: DevServer): Promise<boolean> {
  try {
    const connection = connectionTo({ baseUrl, apiKey, profile: null, source: "dev" });
    const organization = await connection.client("organization");
    await organization.getOrganization({}, { timeoutMs: probeMs });
    return true;
  } catch {
    return false;
  }
}

/** Why commands in other terminals use another server or environment; empty when they do not. */
export function otherConnection(ownUrl: string): string {
  if (process.env.SVC_API_KEY) {
    return "SVC_API_KEY is set. Commands use this server where it is not: unset SVC_API_KEY";
  }
  const typedUrl = process.env.SVC_BASE_URL?.trim().replace(/\/+$/, "") ?? "";
  if (typedUrl !== "" && typedUrl !== ownUrl) {
    return "SVC_BASE_URL is set. Commands use this server where it is not: unset SVC_BASE_URL";
  }
  try {
    const { profile, source } = selectConnection();
    if (source === "dev") return "";
    return `Commands use profile ${profile}. For this server: export SVC_PROFILE=${devProfile}`;
  } catch (error) {
    return toCliError(error).message;
  }
}
