/** The composition root: the only file that names the concrete drivers and connects the parts. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { ProjectDefinition } from "../project/definition.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { KeyWatch } from "./auth/key-watch.ts";
import type { Config } from "./config.ts";
import { StartError } from "./errors.ts";
import { runChildExecution } from "./executions/child-executions.ts";
import { Executor } from "./executions/executor.ts";
import { LogWriter } from "./executions/log-writer.ts";
import { Notifier } from "./executions/notifier.ts";
import { createPools } from "./executions/pool/index.ts";
import { type Boundary, describeBoundary, holds } from "./executions/sandbox/boundary.ts";
import { chooseBoundary } from "./executions/sandbox/choose-boundary.ts";
import { newOwner, prepareFirstRun } from "./first-run.ts";
import { Housekeeper } from "./housekeeper.ts";
import { createListener, type Listener } from "./listener/index.ts";
import { runnerLogs } from "./logs.ts";
import { answerStarting, createDispatcher, type Handler } from "./routes/dispatch.ts";
import { Scheduler, systemClock } from "./schedules/scheduler.ts";
import { openMasterKey } from "./secrets/open-master-key.ts";
import { Redactors } from "./secrets/redactors.ts";
import { Vault } from "./secrets/vault.ts";
import type { App } from "./services/app.ts";
import { DeploymentCache } from "./services/deployment-cache.ts";
import { Packages } from "./services/packages.ts";
import { openFileStorage } from "./storage/filesystem.ts";
import { failAbandoned } from "./store/deployments.ts";
import type { Engine } from "./store/engine.ts";
import { lockDataDir } from "./store/lock.ts";
import { countOrganizations } from "./store/organizations.ts";
import { isolationSetting, putSetting } from "./store/settings.ts";
import { openSqlite } from "./store/sqlite.ts";
import { WebhookLimits } from "./webhooks/limits.ts";
import { RejectionLog } from "./webhooks/rejection-log.ts";
import { RouteTable } from "./webhooks/route-table.ts";
import { Trigger } from "./webhooks/trigger.ts";
import { Waiters } from "./webhooks/waiters.ts";

/** Running executions may finish for this long after SIGTERM; then they are requeued. */
const shutdownGraceMs = 20_000;

/** Time for the end of open streams to reach their clients. */
const flushMs = 500;

export interface RunningServer {
  /** The address that it listens on, for example `http://127.0.0.1:7070`. */
  url: string;
  /** The URL that clients use. */
  publicUrl: string;
  /** The boundary around runners, in words. */
  isolation: string;
  /**
   * Creates the first organization in an empty store, then serves requests. Until then requests are answered with 503.
   * @param showFirstKey - called with the first API key before the key is stored, unless the operator provided one
   */
  open(showFirstKey: (key: string) => void): Promise<void>;
  /** Stops accepting requests and finishes or requeues running executions; resolves within 30 s. */
  close(): Promise<void>;
}

/**
 * Listens before it opens the data folder, so that a start that fails because of the port leaves nothing behind.
 * @throws Error with one sentence; `StartError` when there is specific advice
 */
export async function startServer(config: Config): Promise<RunningServer> {
  let handler: Handler = answerStarting;
  const listener = createListener((request, response) => handler(request, response), config);
  const port = await listener.listen(config.port, config.host);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `${config.tls === null ? "http" : "https"}://${host}:${port}`;
  let lock: { release(): void } | null = null;
  let engine: Engine | null = null;
  try {
    lock = lockDataDir(config.dataDir);
    engine = openSqlite(config.dataDir);
    const parts = { config, engine, lock, listener, url, serve: (next: Handler) => (handler = next) };
    return await compose(parts);
  } catch (error) {
    await engine?.close();
    lock?.release();
    const drained = listener.drain();
    listener.close();
    await drained;
    throw error;
  }
}

interface Parts {
  config: Config;
  engine: Engine;
  lock: { release(): void };
  listener: Listener;
  url: string;
  /** Sets the handler of all later requests. */
  serve(handler: Handler): void;
}

async function compose({ config, engine, lock, listener, url, serve }: Parts): Promise<RunningServer> {
  const { limits } = config;
  const boundary = chooseBoundary({ ...config.runners, dataDir: config.dataDir, env: process.env });
  await checkBoundary(config, engine, boundary);
  const master = await openMasterKey(engine, config.masterKey ?? undefined, config.dataDir);
  await engine.write(() => failAbandoned(Date.now()));

  const closing = new AbortController();
  const notifier = new Notifier();
  const logs = new LogWriter(engine, notifier);
  const storage = openFileStorage(config.dataDir, config.limits);
  const packages = new Packages(config.dataDir, storage, limits);
  const deployments = new DeploymentCache(engine);
  const definitionOf = (orgId: string, deploymentId: string): Promise<ProjectDefinition> =>
    deployments.definition(orgId, deploymentId);
  const vault = new Vault(engine, master);
  const redactors = new Redactors();
  const rejections = new RejectionLog(engine);
  const executor = new Executor({
    engine,
    owner: newOwner(),
    limits,
    notifier,
    logs,
    definitionOf,
    async secretsOf(orgId) {
      const opened = await vault.open(orgId);
      redactors.add(orgId, opened.values);
      return opened;
    },
    redactorOf: (orgId) => redactors.of(orgId),
  });
  const children = { engine, executor, notifier, definitionOf };
  const pools = createPools({
    boundary,
    limits: {
      memoryBytes: limits.runnerMemoryBytes,
      outputBytes: limits.outputBytes,
      jsonDepth: limits.jsonDepth,
      logLineBytes: limits.logLineBytes,
      logLines: limits.logLines,
      executionsPerRunner: limits.executionsPerRunner,
      runnersPerDeployment: limits.runnersPerDeployment,
      idleMs: 300_000,
      killGraceMs: 5_000,
      blockedMs: 5_000,
    },
    events: {
      log: runnerLogs(executor, deployments, logs, redactors),
      runChildExecution: (executionId, request, signal) =>
        runChildExecution(children, executionId, request, signal),
    },
    scratchRoot: join(config.dataDir, "tmp", "runners"),
    async locate(deploymentId) {
      const { orgId, digest } = await deployments.location(deploymentId);
      const { network } = await deployments.definition(orgId, deploymentId);
      return { deploymentId, directory: await packages.ensure({ orgId, digest }), network };
    },
  });
  const routes = new RouteTable(engine);
  const trigger = new Trigger({ routes, executor });
  const scheduler = new Scheduler({ engine, executor, notifier, clock: systemClock });
  const app: App = {
    config,
    baseUrl: () => config.publicUrl ?? url,
    engine,
    storage,
    packages,
    pools,
    boundary,
    executor,
    scheduler,
    routes,
    trigger,
    notifier,
    logs,
    definitionOf,
    vault,
    limits: new WebhookLimits(limits),
    rejections,
    waiters: new Waiters(engine, notifier, closing.signal),
    closing: closing.signal,
  };
  let ready = false;
  const authenticator = new Authenticator(engine);
  const keyWatch = new KeyWatch(engine);
  await executor.start(pools, true);
  scheduler.start();
  const housekeeper = new Housekeeper({ engine, storage, packages, retentionDays: limits.retentionDays });
  housekeeper.start();

  return {
    url,
    publicUrl: app.baseUrl(),
    isolation: describeBoundary(boundary),
    async open(showFirstKey) {
      await prepareFirstRun(engine, config.apiKey, showFirstKey);
      serve(createDispatcher({ app, authenticator, keyWatch, isReady: () => ready }));
      ready = true;
    },
    async close() {
      ready = false;
      const drained = listener.drain();
      closing.abort();
      await scheduler.close();
      await housekeeper.close();
      await executor.close(shutdownGraceMs);
      // Streams have ended, and their last bytes are on the way.
      await Promise.race([drained, setTimeout(flushMs)]);
      listener.close();
      await drained;
      await rejections.flush();
      await engine.close();
      lock.release();
    },
  };
}

/** With several organizations, a boundary must keep one organization's code from reading another's. */
async function checkBoundary(config: Config, engine: Engine, boundary: Boundary): Promise<void> {
  const mayIsolate = holds(boundary) || config.allowUnsandboxed;
  // `svc admin` reads this before it adds an organization.
  await engine.write(() => putSetting(isolationSetting, mayIsolate ? "several" : "one"));
  if (mayIsolate) return;
  const count = await engine.read(countOrganizations);
  if (count > 1) {
    throw new StartError(
      `Cannot start: the data folder has ${count} organizations, and the boundary around runners (${describeBoundary(boundary)}) does not stop malicious code.`,
      "Set SVC_RUNNER=deno, or install bubblewrap on Linux. SVC_ALLOW_UNSANDBOXED=1 starts the server without isolation.",
      undefined,
    );
  }
}
