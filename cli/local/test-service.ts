/** Runs a project in a server of its own: with the runners, limits and retries of the service. */
import { rmSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TargetDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import type { Execution, LogLine } from "../../proto/svc/v1/execution_pb.ts";
import type { Connection } from "../api/connection.ts";
import { report } from "../terminal/report.ts";
import { deployFiles } from "./deploy.ts";
import { syncSecrets } from "./secrets.ts";
import { newApiKey, openLocalService } from "./service.ts";

const environment = "test";
const maxLogLines = 10_000;

export interface TestServiceOptions {
  files: readonly CollectedFile[];
  /** Whether the project restricts its network. */
  restrictsNetwork: boolean;
  /** The content of `ctx.secrets`. */
  secrets: Readonly<Record<string, string>>;
  /** Print the log while an execution runs, and not only at its end. */
  live: boolean;
  onLog(entry: LogLine): void;
}

export interface TestService {
  /** Runs an execution to its end, with its retries and child executions. Its log has then been reported. */
  run(target: TargetDefinition, input: JsonObject): Promise<Execution>;
  close(): Promise<void>;
}

/** Starts a server on an empty store and deploys the files. @throws Error when the deployment fails */
export async function openTestService(options: TestServiceOptions): Promise<TestService> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-local-")));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const service = await openLocalService({
    purpose: "test",
    dataDir: join(folder, "data"),
    ports: [0],
    apiKey: newApiKey(),
    environment,
    onAttempt() {},
  });
  const { connection } = service;
  const log = new Log(connection, options.onLog);
  const close = async (): Promise<void> => {
    log.close();
    await service.close(0);
    remove();
    process.off("exit", remove);
  };
  if (options.restrictsNetwork && !service.enforcesNetwork) report.warning(unenforcedNetwork);
  try {
    await syncSecrets(connection, {}, options.secrets);
    await deployFiles(connection, options.files, { environment, redeploy: false });
    if (options.live) log.follow();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async run({ kind, name }, input) {
      const executions = await connection.client("executions");
      const { executionId } = await executions.runExecution({ name, kind, input, environment });
      // The stream ends with the execution.
      for await (const _ of executions.watchExecution({ executionId }));
      await log.drain();
      return executions.getExecution({ executionId });
    },
    close,
  };
}

/** For a project whose `network` key has no effect on this machine. */
export const unenforcedNetwork =
  "`network` has no effect here: only bubblewrap and Deno can restrict the hosts that agents reach.";

/** Reports the log of all executions, each entry once. */
class Log {
  readonly #connection: Connection;
  readonly #onLog: (entry: LogLine) => void;
  readonly #closing = new AbortController();
  #cursor = "0";

  constructor(connection: Connection, onLog: (entry: LogLine) => void) {
    this.#connection = connection;
    this.#onLog = onLog;
  }

  /** Reports entries as they are written. */
  follow(): void {
    // A broken stream is no problem: `drain` reads the rest.
    void this.#read({ follow: true }).catch(() => {});
  }

  /** Reports the entries up to now. */
  async drain(): Promise<void> {
    await this.#read({ follow: false });
  }

  close(): void {
    this.#closing.abort();
  }

  async #read({ follow }: { follow: boolean }): Promise<void> {
    const executions = await this.#connection.client("executions");
    const request = { follow, after: this.#cursor, lines: maxLogLines, environment };
    for await (const { log } of executions.tailLogs(request, { signal: this.#closing.signal })) {
      if (log === undefined || Number(log.cursor) <= Number(this.#cursor)) continue;
      this.#cursor = log.cursor;
      // Other entries repeat the state of the execution, which is reported at its end.
      if (log.source === "console" || (log.source === "execution" && log.level === "warn")) this.#onLog(log);
    }
  }
}
