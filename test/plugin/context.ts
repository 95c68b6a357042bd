/** Context of a test case, on any runtime and in any process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RestError, type RestErrorCode, RestPlugin, type RestPluginOptions } from "../../plugin/index.ts";
import type { Runtime } from "../support/runtimes.ts";
import type { LoggedRequest } from "./server.ts";

/** Passed to the process that runs the suite. */
export interface SuiteInput {
  runtime: Runtime;
  mainPort: number;
  otherPort: number;
  securePort: number;
  controlUrl: string;
}

export interface Context extends SuiteInput {
  /** Base URL of the main server, with a path. */
  site: string;
  /** Origin of a second server. */
  otherOrigin: string;
  /** Folder of this case. */
  folder: string;
  /** Creates a plugin for `site` with the key `key-1234`; it is closed after the case. */
  plugin(options?: Partial<RestPluginOptions>): RestPlugin;
  /** Requests and number of connections that the servers received in this case. */
  log(): Promise<{ requests: LoggedRequest[]; connections: number }>;
}

export interface Case {
  name: string;
  run(context: Context): Promise<void>;
}

/** Response of `echo`. */
export interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

export async function runCase(input: SuiteInput, { run }: Case): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-plugin-"));
  const plugins: RestPlugin[] = [];
  const site = `http://127.0.0.1:${input.mainPort}/v1`;
  await (await fetch(input.controlUrl, { method: "DELETE" })).text();
  await run({
    ...input,
    site,
    otherOrigin: `http://127.0.0.1:${input.otherPort}`,
    folder,
    plugin(options = {}) {
      const plugin = new RestPlugin({ baseUrl: site, apiKey: "key-1234", timeout: 50, ...options });
      plugins.push(plugin);
      return plugin;
    },
    async log() {
      return (await (await fetch(input.controlUrl)).json()) as {
        requests: LoggedRequest[];
        connections: number;
      };
    },
  });
  for (const plugin of plugins) await plugin.close();
  // Kept when the case fails, for inspection.
  await rm(folder, { recursive: true });
}

/** Runs an action that must fail and returns its RestError. */
export async function failure(code: RestErrorCode, action: () => Promise<unknown>): Promise<RestError> {
  let result: unknown;
  try {
    result = await action();
  } catch (error) {
    if (error instanceof RestError && error.code === code) return error;
    throw new Error(`expected a RestError ${code}`, { cause: error });
  }
  throw new Error(`expected a RestError ${code}, got the result ${JSON.stringify(result)}`);
}
