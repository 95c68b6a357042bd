import type { Connection } from "../api/connection.ts";
import { envFile, type LocalSecrets, readSecrets } from "../local/env-file.ts";
import { syncSecrets } from "../local/secrets.ts";
import type { DevData } from "./data.ts";
import type { DevReporter } from "./events.ts";

/** Keeps the secrets of the server in line with `.env`. */
export class SecretSync {
  readonly #root: string;
  readonly #connection: Connection;
  readonly #data: DevData;
  /** The secrets that were set from the file. */
  #values: Readonly<Record<string, string>>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(root: string, connection: Connection, data: DevData) {
    this.#root = root;
    this.#connection = connection;
    this.#data = data;
    // The values of an earlier `svc dev` are not known. No secret is empty, so all are set again.
    this.#values = Object.fromEntries(data.secretNames.map((name) => [name, ""]));
  }

  /** Names of the secrets that are set. */
  get names(): string[] {
    return Object.keys(this.#values).toSorted();
  }

  /** Reads the file and sets the secrets. */
  async read(): Promise<LocalSecrets> {
    const secrets = readSecrets(this.#root);
    const names = Object.keys(secrets.values);
    // A removed secret stays listed until it is deleted, also when the process is killed before.
    this.#data.keepSecretNames([...new Set([...names, ...Object.keys(this.#values)])]);
    await syncSecrets(this.#connection, this.#values, secrets.values);
    this.#values = secrets.values;
    this.#data.keepSecretNames(names);
    return secrets;
  }

  /** Reads the file again, and reports a change. */
  changed(reporter: DevReporter): Promise<void> {
    const read = async (): Promise<void> => {
      const before = textOf(this.#values);
      const { empty, values } = await this.read();
      if (textOf(values) === before) return;
      reporter.secrets(this.names);
      warnAboutEmpty(empty, reporter);
    };
    const result = this.#last.then(read);
    this.#last = result.catch(() => {});
    return result;
  }
}

/** The file is often a copy of `.env.example`. */
export function warnAboutEmpty(names: readonly string[], reporter: DevReporter): void {
  for (const name of names) reporter.warning(`${name} in ${envFile} has no value.`);
}

function textOf(values: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(values).toSorted());
}
