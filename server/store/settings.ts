/** Values that belong to the whole store, by name. */
import { first, type Program, run } from "./engine.ts";

/** `several` when the boundary of the server that started last may isolate several organizations, else `one`. */
export const isolationSetting = "isolation";

const SELECT = "SELECT value FROM settings WHERE name = ?";
const PUT =
  "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

export function* getSetting(name: string): Program<string | undefined> {
  return (yield* first<{ value: string }>(SELECT, name))?.value;
}

export function* putSetting(name: string, value: string): Program<void> {
  yield* run(PUT, name, value);
}
