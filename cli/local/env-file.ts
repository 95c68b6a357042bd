import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { isName } from "../../project/names.ts";

/** The file with the secrets of a project on this machine. It is not deployed. */
export const envFile = ".env";

export interface LocalSecrets {
  /** The content of `ctx.secrets`. */
  values: Record<string, string>;
  /** Names of variables without a value. A secret cannot be empty. */
  empty: string[];
}

const prefix = "SVC_SECRET_";

/**
 * The secrets of a project on this machine. Each variable of `.env` is a secret of its name, as is the variable
 * `SVC_SECRET_<NAME>` in `.env` and, with the highest precedence, in the environment. Other variables that begin with
 * `SVC_` are settings of the command line.
 */
export function readSecrets(root: string, env: NodeJS.ProcessEnv = process.env): LocalSecrets {
  const file = Object.entries(readEnvFile(root));
  const plain = file.filter(([name]) => !name.startsWith("SVC_"));
  const found = new Map([...plain, ...prefixed(file), ...prefixed(Object.entries(env))]);
  const named = [...found].filter(([name]) => isName(name));
  return {
    values: Object.fromEntries(named.filter(([, value]) => value !== "")),
    empty: named.filter(([, value]) => value === "").map(([name]) => name),
  };
}

function prefixed(variables: readonly (readonly [string, string | undefined])[]): [string, string][] {
  return variables.flatMap(([name, value = ""]): [string, string][] =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
  );
}

function readEnvFile(root: string): Record<string, string> {
  try {
    // A text has only strings as values.
    return parseEnv(readFileSync(join(root, envFile), "utf8")) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
