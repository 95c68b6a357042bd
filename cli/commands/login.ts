import { connectionTo } from "../api/connection.ts";
import { type Command, command } from "../app/command.ts";
import { CliError, UsageError } from "../app/errors.ts";
import { readStandardInput } from "../app/input.ts";
import { output } from "../app/options.ts";
import { configPath, readConfig, writeConfig } from "../profiles/file.ts";
import { checkedKey, defaultBaseUrl } from "../profiles/select.ts";
import { readBaseUrl } from "../profiles/values.ts";
import { printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { warnOfExpiry } from "../views/api-key.ts";
import { type Identity, identityJson } from "../views/identity.ts";

export default command({
  details:
    "Reads the API key from standard input, or from a prompt without echo, checks it with the service and stores it in a file that only you can read. SVC_API_KEY takes precedence over a stored key.",
  args: {
    url: {
      type: "positional",
      required: false,
      description:
        "Address of the service (default: that of the profile, SVC_BASE_URL or http://127.0.0.1:7070)",
    },
    profile: {
      type: "string",
      valueHint: "name",
      default: "default",
      description: "Name of the profile",
    },
    ...output,
  },
  examples: [
    ["svc login https://svc.example.com", "Prompt for the key and store it"],
    ["svc login --profile staging https://staging.example.com < key.txt", "Add a second profile"],
  ],
  async run(values) {
    const { profile } = values;
    if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(profile)) {
      throw new UsageError(
        `--profile must be 1 to 64 letters, digits, "_", "-" or ".", not "${sanitizeLine(profile)}".`,
        "Example: --profile staging",
      );
    }
    const config = readConfig();
    const stored = Object.hasOwn(config.profiles, profile) ? config.profiles[profile]?.base_url : undefined;
    const typed = values.url ?? stored ?? (process.env.SVC_BASE_URL?.trim() || defaultBaseUrl);
    const baseUrl = readBaseUrl("The address", typed);
    warnAboutPlainHttp(baseUrl);
    if (process.stdin.isTTY) await checkAddress(baseUrl);
    const apiKey = checkedKey(await readKey(baseUrl), "The key");
    const connection = connectionTo({ baseUrl, apiKey, profile, source: "profile" }, values);
    const [organization, { keyExpiresAt }] = await Promise.all([
      (await connection.client("organization")).getOrganization({}),
      (await connection.client("health")).check({}),
    ]).catch(rejectKey);
    config.profiles[profile] = { base_url: baseUrl, api_key: apiKey };
    writeConfig({ ...config, current: profile });
    const identity: Identity = { organization, baseUrl, apiKey, profile, source: "profile", keyExpiresAt };
    if (values.json) return printJson(identityJson(identity));
    report.success(`Logged in to ${baseUrl} as ${sanitizeLine(organization.name)}.`);
    warnOfExpiry("The API key", keyExpiresAt);
    report.detail(`Profile ${profile} in ${configPath()}`);
    if (process.env.SVC_API_KEY) {
      report.warning("SVC_API_KEY is set and takes precedence. To use the profile: unset SVC_API_KEY");
    }
  },
}) as Command;

async function readKey(baseUrl: string): Promise<string> {
  const key = process.stdin.isTTY
    ? await (await import("../terminal/password-prompt.ts")).promptPassword(`API key for ${baseUrl}`)
    : new TextDecoder().decode(await readStandardInput());
  if (key.trim() !== "") return key.trim();
  throw new UsageError("No API key was given.", "Type it at the prompt, or pass it on standard input.");
}

/** SVC_API_KEY plays no part in a login. */
async function rejectKey(error: unknown): Promise<never> {
  const { isAuthenticationFailure, toCliError } = await import("../api/error-messages.ts");
  if (!isAuthenticationFailure(error)) throw error;
  throw new CliError(
    toCliError(error).message,
    "Nothing was stored. Check that the key is complete. It may belong to another service, be revoked or expired.",
    { cause: error },
  );
}

/** Checks the address before the prompt for the key. @throws ConnectError when no service answers there */
async function checkAddress(baseUrl: string): Promise<void> {
  const connection = connectionTo({ baseUrl, apiKey: "", profile: null, source: "environment" });
  const health = await connection.client("health");
  const { isResponse } = await import("../api/error-messages.ts");
  await health.check({}).catch((error: unknown) => {
    if (!isResponse(error)) throw error;
  });
}

function warnAboutPlainHttp(baseUrl: string): void {
  const { protocol, hostname } = new URL(baseUrl);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol === "http:" && !isLoopback) {
    report.warning(`${baseUrl} is not encrypted: others on the network can read the API key.`);
  }
}
