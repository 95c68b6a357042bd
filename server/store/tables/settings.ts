/** Values that belong to the whole store, by name. */
import { first, type Program, run } from "../engine.ts";

/** `several` when the boundary of the server that started last may isolate several organizations, else `one`. */
export const isolationSetting = "isolation";

/** The id of the organization that the first start created. */
export const firstOrganizationSetting = "first_organization";

const SELECT = "SELECT value FROM settings WHERE name = ?1";
const INSERT =
  "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING RETURNING name";
const PUT =
  "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

export function* getSetting(name: string): Program<string | undefined> {
  return (yield* first<{ value: string }>(SELECT, name))?.value;
}

export function* putSetting(name: string, value: string): Program<void> {
  yield* run(PUT, name, value);
}

/** @returns false if it has a value */
export function* insertSetting(name: string, value: string): Program<boolean> {
  return (yield* first(INSERT, name, value)) !== undefined;
}
