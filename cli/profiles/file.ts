/**
 * The configuration file: one *profile* per service, with its address and its API key, written by `svc login`. The file is
 * `svc/config.json` in `$XDG_CONFIG_HOME`, `~/.config` by default, and readable only by its owner.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { isJsonObject } from "../../project/json.ts";
import { CliError } from "../app/errors.ts";

export interface Profile {
  base_url: string;
  api_key: string;
}

export interface ConfigFile {
  /** The name of the profile in use; empty when there is none. */
  current: string;
  profiles: Record<string, Profile>;
}

export function configPath(): string {
  const base = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(base, "svc", "config.json");
}

/** @returns no profiles when there is no file. @throws CliError when the file is not valid */
export function readConfig(): ConfigFile {
  const path = configPath();
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { current: "", profiles: {} };
    throw new CliError(`Cannot read ${path}: ${(error as Error).message}.`, "Check its permissions.");
  }
  const config = parse(text);
  if (config !== null) return config;
  throw new CliError(
    `Cannot read ${path}: it is not a configuration file of svc.`,
    "Fix or delete the file, then run `svc login`.",
  );
}

/** Replaces the file as a whole, so that a crash leaves the old or the new one. */
export function writeConfig(config: ConfigFile): void {
  const path = configPath();
  const temporary = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
    // The mode of `writeFileSync` holds only for a new file.
    chmodSync(temporary, 0o600);
    renameSync(temporary, path);
  } catch (error) {
    throw new CliError(`Cannot write ${path}: ${(error as Error).message}.`, "Check its permissions.");
  }
}

function parse(text: string): ConfigFile | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isJsonObject(value) || typeof value.current !== "string" || !isJsonObject(value.profiles)) return null;
  const profiles: [string, Profile][] = [];
  for (const [name, profile] of Object.entries(value.profiles)) {
    if (!isJsonObject(profile)) return null;
    const { base_url, api_key } = profile;
    if (typeof base_url !== "string" || typeof api_key !== "string") return null;
    profiles.push([name, { base_url, api_key }]);
  }
  return { current: value.current, profiles: Object.fromEntries(profiles) };
}
