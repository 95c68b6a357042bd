/** The data folder of `svc dev`: `.svc/dev` in the project, or a temporary one with `--fresh`. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "../app/errors.ts";
import { devFolder } from "../profiles/dev-server.ts";

export interface DevData {
  folder: string;
  apiKey: string;
  /** Names of the secrets that an earlier `svc dev` has set from `.env`. */
  secretNames: readonly string[];
  keepSecretNames(names: readonly string[]): void;
  /** Removes a temporary folder. */
  release(): void;
}

/** @param newKey - creates the API key of an empty store. @throws CliError when the key of a store is lost */
export function openDevData(root: string, options: { fresh: boolean }, newKey: () => string): DevData {
  const folder = options.fresh ? realpathSync(mkdtempSync(join(tmpdir(), "svc-dev-"))) : devFolder(root);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keyFile = join(folder, "api.key");
  if (!existsSync(keyFile)) {
    if (existsSync(join(folder, "svc.db"))) {
      throw new CliError(
        `Cannot use the store in ${folder}: its API key, api.key, is missing.`,
        "Remove the folder to start with an empty store, or pass --fresh.",
      );
    }
    writeFileSync(keyFile, `${newKey()}\n`, { mode: 0o600 });
  }
  const namesFile = join(folder, "secret-names.json");
  return {
    folder,
    apiKey: readFileSync(keyFile, "utf8").trim(),
    secretNames: existsSync(namesFile) ? JSON.parse(readFileSync(namesFile, "utf8")) : [],
    keepSecretNames: (names) => writeFileSync(namesFile, JSON.stringify(names), { mode: 0o600 }),
    release() {
      if (options.fresh) rmSync(folder, { recursive: true, force: true });
    },
  };
}
