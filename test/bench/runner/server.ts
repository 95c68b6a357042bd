/** The servers of cases, with rate limits on and set high. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deploy, type ProjectSource } from "../../support/project.ts";
import type { Runtime } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import { type LimitProgram, startLimitProgram } from "../limit/child.ts";
import { openExecutions } from "./open-executions.ts";

const high = "10000000";

export type Agent = Exclude<NonNullable<ProjectSource["agents"]>[string], string>;

export const highLimits: Readonly<Record<string, string>> = {
  SVC_WEBHOOK_RATE: high,
  SVC_WEBHOOK_BURST: high,
  SVC_ORGANIZATION_RATE: high,
  SVC_ORGANIZATION_BURST: high,
};

/** Accepted executions stay queued behind an agent that does not end, so that only accepting is measured. */
export const acceptOnly: { env: Readonly<Record<string, string>>; agent: Agent } = {
  env: { SVC_CONCURRENCY: "1" },
  agent: { code: "export default () => new Promise(() => {});", timeout: 3600, webhooks: [{ slug: "in" }] },
};

/** Returns the time of its first line. */
export const trivialAgent: Agent = {
  code: "export default async () => ({ at: performance.timeOrigin + performance.now() });",
  webhooks: [{ slug: "in" }],
};

export interface ServerSetup {
  runtime?: Runtime;
  env?: Readonly<Record<string, string>>;
  agent?: Agent;
  launcher?: string;
}

/** @param work - gets the URL of a webhook of the agent */
export async function withServer<Result>(
  { runtime = "node", env = {}, agent = trivialAgent, launcher }: ServerSetup,
  work: (server: TestServer, url: string) => Promise<Result>,
): Promise<Result> {
  const server = new TestServer(runtime, {
    env: { ...highLimits, ...env },
    ...(launcher !== undefined && { launcher }),
  });
  await server.start();
  try {
    const { webhooks } = await deploy(server, { agents: { bench: agent } });
    return await work(server, webhooks[0]?.url ?? "");
  } finally {
    await server.discard(false);
  }
}

/** @param work - gets the limit program and its folder, which holds `limit.db` */
export async function withLimitProgram<Result>(
  work: (limit: LimitProgram, folder: string) => Promise<Result>,
): Promise<Result> {
  return withFolder(async (folder) => {
    const limit = await startLimitProgram(folder);
    try {
      return await work(limit, folder);
    } finally {
      await limit.stop();
    }
  });
}

export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The embedded store of a server, read from another process. */
export class Store {
  readonly #db: DatabaseSync;

  constructor(server: TestServer) {
    this.#db = new DatabaseSync(join(server.dataDir, "svc.db"), { readOnly: true });
  }

  count(condition = "TRUE"): number {
    return Number(this.#db.prepare(`SELECT COUNT(*) AS n FROM executions WHERE ${condition}`).get()?.n);
  }

  get ended(): number {
    return this.count("finished_at IS NOT NULL");
  }

  async untilDrained(): Promise<void> {
    const isOpen = openExecutions(this.#db);
    while (isOpen()) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(this.count("status <> 'succeeded'"), 0);
  }

  close(): void {
    this.#db.close();
  }
}
