/**
 * Chooses the address and the API key of a command.
 *
 * `SVC_API_KEY` and `SVC_BASE_URL` take precedence. Without a key in the environment, the profile in `SVC_PROFILE` or the
 * current one applies. Without a profile, the server of `svc dev` in the project applies; `SVC_PROFILE=dev` prefers it to
 * the current profile. The key of a profile or of `svc dev` is sent to no other origin than its own.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_FILE } from "../../project/names.ts";
import { CliError, UsageError } from "../app/errors.ts";
import { projectFolder } from "../project/folder.ts";
import { runningDevServer } from "./dev-server.ts";
import { type Profile, readConfig } from "./file.ts";
import { readBaseUrl } from "./values.ts";

export const defaultBaseUrl = "http://127.0.0.1:7070";

export interface Selection {
  baseUrl: string;
  apiKey: string;
  /** The name of the profile; null for another source. */
  profile: string | null;
  source: "environment" | "profile" | "dev";
}

/** The value of `SVC_PROFILE` that chooses the server of `svc dev`. A stored profile of this name takes precedence. */
export const devProfile = "dev";

/** @throws CliError when there is no key */
export function selectConnection(): Selection {
  const apiKey = process.env.SVC_API_KEY?.trim() ?? "";
  const typedUrl = process.env.SVC_BASE_URL?.trim() ?? "";
  const baseUrl = typedUrl === "" ? null : readBaseUrl("SVC_BASE_URL", typedUrl);
  if (apiKey !== "") {
    if (process.env.SVC_PROFILE) {
      throw new UsageError(
        "SVC_API_KEY and SVC_PROFILE exclude each other.",
        "Remove one of them: `unset SVC_API_KEY` or `unset SVC_PROFILE`.",
      );
    }
    return {
      baseUrl: baseUrl ?? defaultBaseUrl,
      apiKey: checkedKey(apiKey),
      profile: null,
      source: "environment",
    };
  }
  const found = selectedProfile();
  if (found === null) {
    const dev = existsSync(join(projectFolder(), PROJECT_FILE))
      ? ", or run `svc dev` in another terminal for a server of this project"
      : "";
    throw new CliError(
      "No API key found: SVC_API_KEY is not set.",
      `Set it with \`export SVC_API_KEY=<key>\`, or run \`svc login\`${dev}.`,
    );
  }
  const { label, profile, name } = found;
  const ofProfile = readBaseUrl(`base_url of ${label}`, profile.base_url);
  if (baseUrl !== null && new URL(baseUrl).origin !== new URL(ofProfile).origin) {
    throw new CliError(
      `No API key found for ${baseUrl}: SVC_API_KEY is not set, and ${label} is for ${ofProfile}.`,
      "Run `svc login` for this address, or unset SVC_BASE_URL.",
    );
  }
  const source = name === null ? "dev" : "profile";
  return { baseUrl: baseUrl ?? ofProfile, apiKey: profile.api_key, profile: name, source };
}

interface Selected {
  /** For messages. */
  label: string;
  /** Null for the server of `svc dev`. */
  name: string | null;
  profile: Profile;
}

/** The profile in `SVC_PROFILE`, or the current one, or the server of `svc dev`; null when there is none. */
function selectedProfile(): Selected | null {
  const { current, profiles } = readConfig();
  const name = process.env.SVC_PROFILE || current;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return { label: `profile ${name}`, name, profile };
  if (name === "" || name === devProfile) {
    const server = runningDevServer();
    if (server !== null) return { label: "`svc dev`", name: null, profile: server };
    if (name === "") return null;
    throw new UsageError(
      'There is no profile "dev", and `svc dev` does not run for the project in this folder.',
      "Run `svc dev` in another terminal, or unset SVC_PROFILE.",
    );
  }
  const names = Object.keys(profiles);
  throw new UsageError(
    `There is no profile "${name}".`,
    names.length === 0 ? "Run `svc login`." : `Choose one of: ${names.join(", ")}.`,
  );
}

/** @throws UsageError, without the value, since it may contain most of a key */
export function checkedKey(apiKey: string, source = "SVC_API_KEY"): string {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new UsageError(
    `${source} contains characters that an API key cannot have, such as spaces or line breaks.`,
    "Copy the key again; its form is svc_<id>_<secret>.",
  );
}
