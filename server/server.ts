/** The composition root: the only place that names the concrete parts and puts them together. */
import { join } from "node:path";
import type { ProjectDefinition } from "../project/definition.ts";
import { Authenticator } from "./auth.ts";
import type { Config } from "./config.ts";
import { runChild } from "./executions/children.ts";
import { Executor } from "./executions/executor.ts";
import { LogWriter } from "./executions/log-writer.ts";
import { Notices } from "./executions/notices.ts";
import { createPools, Spawner } from "./executions/pool/index.ts";
import { newOwner, prepareFirstRun } from "./first-run.ts";
import { Housekeeper } from "./housekeeper.ts";
import { createListener } from "./listener.ts";
import { childLogs } from "./logs.ts";
import { createDispatcher } from "./routes/dispatch.ts";
import { canRestrictChildren, runtimeName, startsFromHelper } from "./runtime.ts";
import { Scheduler, systemClock } from "./schedules/scheduler.ts";
import { loadMasterKey } from "./secrets/master-key.ts";
import { Vault } from "./secrets/vault.ts";
import type { App } from "./services/app.ts";
import { DeploymentCache } from "./services/deployment-cache.ts";
import { Packages } from "./services/packages.ts";
import { openFileStorage } from "./storage/filesystem.ts";
import { failAbandoned } from "./store/deployments.ts";
import type { Engine } from "./store/engine.ts";
import { lockDataDir } from "./store/lock.ts";
import { countOrganizations } from "./store/organizations.ts";
import { openSqlite } from "./store/sqlite.ts";
import { DeliveryLog } from "./webhooks/delivery-log.ts";
import { WebhookLimits } from "./webhooks/limits.ts";
import { RouteTable } from "./webhooks/route-table.ts";
import { Trigger } from "./webhooks/trigger.ts";
import { Waiters } from "./webhooks/waiters.ts";

/** How long running executions may go on after SIGTERM before they are handed back. */
const shutdownGraceMs = 20_000;

export interface RunningServer {
  /** Where it listens, for example `http://127.0.0.1:7070`. */
  url: string;
  /** The URL that others use. */
  publicUrl: string;
  /** The first key, when one was just made. */
  firstKey: string | null;
  /** Lets `/readyz` answer 200: called once the first key was shown. */
  open(): void;
  /** Stops accepting, finishes or hands back what runs; resolves within 30 s. */
  close(): Promise<void>;
}

/** @throws Error that says in one line why the server cannot start. */
export async function startServer(config: Config): Promise<RunningServer> {
  const lock = lockDataDir(config.dataDir);
  const engine = openSqlite(config.dataDir);
  try {
    return await compose(config, engine, lock);
  } catch (error) {
    await engine.close();
    lock.release();
    throw error;
  }
}

async function compose(config: Config, engine: Engine, lock: { release(): void }): Promise<RunningServer> {
  const { limits } = config;
  const firstKey = await prepareFirstRun(engine, config.apiKey);
  await checkSandbox(config, engine);
  await engine.write(() => failAbandoned(Date.now()));

  const closing = new AbortController();
  const notices = new Notices();
  const logs = new LogWriter(engine, notices);
  const storage = openFileStorage(config.dataDir);
  const packages = new Packages(config.dataDir, storage, limits);
  const deployments = new DeploymentCache(engine);
  const definitionOf = (orgId: string, deploymentId: string): Promise<ProjectDefinition> =>
    deployments.definition(orgId, deploymentId);
  const vault = new Vault(engine, loadMasterKey(config.masterKey ?? undefined, config.dataDir));
  const deliveries = new DeliveryLog(engine);
  const executor = new Executor({
    engine,
    owner: newOwner(),
    limits,
    notices,
    logs,
    definitionOf,
    secretsOf: (orgId) => vault.values(orgId),
  });
  const children = { engine, executor, notices, definitionOf };
  const spawner = startsFromHelper ? new Spawner() : null;
  const pools = createPools({
    limits: {
      memoryBytes: limits.childMemoryBytes,
      outputBytes: limits.outputBytes,
      jsonDepth: limits.jsonDepth,
      logLineBytes: limits.logLineBytes,
      logLines: limits.logLines,
      executionsPerChild: limits.executionsPerChild,
      childrenPerDeployment: limits.childrenPerDeployment,
      idleMs: 300_000,
      killGraceMs: 5_000,
      blockedMs: 5_000,
    },
    events: {
      log: childLogs(executor, deployments, logs),
      run: (executionId, request, signal) => runChild(children, executionId, request, signal),
    },
    scratchRoot: join(config.dataDir, "tmp", "children"),
    ...(spawner !== null && { spawn: (request) => spawner.spawn(request) }),
    async locate(deploymentId) {
      const { orgId, digest } = await deployments.location(deploymentId);
      return { deploymentId, directory: await packages.ensure({ orgId, digest }) };
    },
  });
  const routes = new RouteTable(engine);
  const trigger = new Trigger({ routes, executor, notices });
  const scheduler = new Scheduler({ engine, executor, notices, clock: systemClock });
  let url = "";
  const app: App = {
    config,
    baseUrl: () => config.publicUrl ?? url,
    engine,
    storage,
    packages,
    pools,
    executor,
    scheduler,
    routes,
    trigger,
    notices,
    logs,
    definitionOf,
    vault,
    limits: new WebhookLimits(limits),
    deliveries,
    waiters: new Waiters(engine, notices, closing.signal),
    closing: closing.signal,
  };
  let ready = false;
  const authenticate = new Authenticator(engine).interceptor();
  const listener = createListener(createDispatcher({ app, authenticate, isReady: () => ready }), config.tls);
  const port = await listener.listen(config.port, config.host);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  url = `${config.tls === null ? "http" : "https"}://${host}:${port}`;
  await executor.start(pools, true);
  scheduler.start();
  const housekeeper = new Housekeeper({ engine, storage, packages, retentionDays: limits.retentionDays });
  housekeeper.start();

  return {
    url,
    publicUrl: app.baseUrl(),
    firstKey,
    open() {
      ready = true;
    },
    async close() {
      ready = false;
      const drained = listener.drain();
      closing.abort();
      await scheduler.close();
      await housekeeper.close();
      await executor.close(shutdownGraceMs);
      spawner?.close();
      listener.close();
      await drained;
      await deliveries.flush();
      await engine.close();
      lock.release();
    },
  };
}

/** One organization's code must not read another's. */
async function checkSandbox(config: Config, engine: Engine): Promise<void> {
  if (canRestrictChildren || config.allowUnsandboxed) return;
  const count = await engine.read(countOrganizations);
  if (count > 1) {
    throw new Error(
      `Cannot start on ${runtimeName}: it cannot restrict what users' code reads, and the store holds ${count} organizations; use Node or Deno, or set SVC_ALLOW_UNSANDBOXED=1.`,
    );
  }
}
