/** The composition root: the only file that names the concrete drivers and connects the parts. */
import { setTimeout } from "node:timers/promises";
import type { ProjectDefinition } from "../project/definition.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { KeyWatch } from "./auth/key-watch.ts";
import type { Config } from "./config.ts";
import { Counters } from "./counters.ts";
import { type OpenStore, openStorage, openStore } from "./drivers.ts";
import { StartError } from "./errors.ts";
import { createPost } from "./executions/alerts/post.ts";
import { Executor } from "./executions/executor.ts";
import { LogWriter } from "./executions/log-writer.ts";
import { RemotePools } from "./executions/module-checks/remote-pools.ts";
import { Notifier } from "./executions/notifier.ts";
import { type Boundary, describeBoundary, enforcesNetwork, holds } from "./executions/sandbox/boundary.ts";
import { chooseBoundary } from "./executions/sandbox/choose-boundary.ts";
import { newOwner, prepareFirstRun } from "./first-run.ts";
import { createListener, type Listener } from "./listener/index.ts";
import { MetricsCollector } from "./metrics/collect.ts";
import { openMetricsPort } from "./metrics/port.ts";
import { answerStarting, createDispatcher, type Handler } from "./routes/dispatch.ts";
import { createProbes } from "./routes/probes.ts";
import { Scheduler, systemClock } from "./schedules/scheduler.ts";
import { openMasterKey } from "./secrets/open-master-key.ts";
import { Redactors } from "./secrets/redactors.ts";
import { Vault } from "./secrets/vault.ts";
import { Senders } from "./senders/senders.ts";
import { TrustedProxies } from "./senders/trusted-proxies.ts";
import type { App } from "./services/app.ts";
import { DeploymentCache } from "./services/deployments/cache.ts";
import { Packages } from "./services/deployments/packages.ts";
import { FollowPace } from "./services/logs/follow-pace.ts";
import { SharedBatches } from "./services/logs/shared-batches.ts";
import { Readiness } from "./services/standard/readiness.ts";
import type { Engine } from "./store/engine.ts";
import { failAbandoned } from "./store/tables/deployments.ts";
import { countOrganizations } from "./store/tables/organizations.ts";
import { isolationSetting, putSetting } from "./store/tables/settings.ts";
import { measureLoopDelay } from "./telemetry/metrics/process.ts";
import { type FetchUrl, fetchUrl } from "./webhooks/fetch.ts";
import { WebhookLimits } from "./webhooks/limits.ts";
import { type OnRejection, RejectionLog } from "./webhooks/rejection-log.ts";
import { RouteTable } from "./webhooks/route-table.ts";
import { SnsVerifier } from "./webhooks/sns/verifier.ts";
import { Trigger } from "./webhooks/trigger.ts";
import { Waiters } from "./webhooks/waiters.ts";
import { openWorker } from "./worker.ts";

/** Running executions may finish for this long after SIGTERM; then they are requeued. */
const shutdownGraceMs = 20_000;

/** Time for the end of open streams to reach their clients. */
const flushMs = 500;

export interface RunningServer {
  /** The address that it listens on, for example `http://127.0.0.1:7070`. */
  url: string;
  /** The URL that clients use. */
  publicUrl: string;
  /** Where metrics are served without a key; null for nowhere. */
  metricsUrl: string | null;
  /** The boundary around runners, in words; null without runners. */
  isolation: string | null;
  /** Whether the boundary can restrict the hosts that runners reach. */
  enforcesNetwork: boolean;
  /**
   * Creates the first organization in an empty store, then serves requests. Until then requests are answered with 503.
   * @param showFirstKey - called with the first API key before the key is stored, unless the operator provided one
   */
  open(showFirstKey: (key: string) => void): Promise<void>;
  /**
   * Stops accepting requests and finishes or requeues running executions; resolves within 30 s.
   * @param graceMs - how long running executions may continue; by default 20 s
   */
  close(graceMs?: number): Promise<void>;
}

export interface Outside {
  /** Sends requests to senders of webhooks. */
  fetchUrl?: FetchUrl;
  /** Several servers use the data folder. */
  shared?: boolean;
  /** The server belongs to `svc dev` or `svc test` of one project. */
  local?: LocalMode;
}

/** Differences between `svc serve` and the servers that `svc dev` and `svc test` embed. */
export interface LocalMode {
  /** `test` runs no schedules, and retries failed attempts without a delay. */
  purpose: "dev" | "test";
  /** Called when an attempt of an execution starts. */
  onAttempt(executionId: string): void;
  /** Called for webhook requests that start no execution. */
  onRejection?: OnRejection;
}

/**
 * Listens before it opens the data folder, so that a start that fails because of the port leaves nothing behind.
 * @param outside - differs in tests, and in `svc dev` and `svc test`
 * @throws Error with one sentence; `StartError` when there is specific advice
 */
export async function startServer(config: Config, outside: Outside = {}): Promise<RunningServer> {
  if (config.role !== "all" && config.database === null && !outside.shared) {
    throw new Error(
      `Cannot use the role '${config.role}' (--role, SVC_ROLE): it needs a database that several processes share; set SVC_DATABASE_URL.`,
    );
  }
  let handler: Handler = answerStarting;
  const listener = createListener((request, response) => handler(request, response), config);
  const port = await listener.listen(config.port, config.host);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `${config.tls === null ? "http" : "https"}://${host}:${port}`;
  let store: OpenStore | null = null;
  try {
    store = await openStore(config, outside.shared ?? false);
    const parts = {
      config,
      store,
      listener,
      url,
      fetchUrl: outside.fetchUrl ?? fetchUrl,
      local: outside.local ?? null,
      serve: (next: Handler) => (handler = next),
    };
    return await compose(parts);
  } catch (error) {
    await store?.close();
    const drained = listener.drain();
    listener.close();
    await drained;
    throw error;
  }
}

interface Parts {
  config: Config;
  store: OpenStore;
  listener: Listener;
  url: string;
  fetchUrl: FetchUrl;
  local: LocalMode | null;
  /** Sets the handler of all later requests. */
  serve(handler: Handler): void;
}

async function compose(parts: Parts): Promise<RunningServer> {
  const { config, listener, local, url, serve } = parts;
  const { engine, exclusive } = parts.store;
  const { limits } = config;
  const boundary =
    config.role === "api"
      ? null
      : chooseBoundary({ ...config.runners, dataDir: config.dataDir, env: process.env });
  if (boundary !== null) await checkBoundary(config, engine, boundary);
  const masterKeys = await openMasterKey(engine, {
    variable: config.masterKey ?? undefined,
    previous: config.previousMasterKey ?? undefined,
    dataDir: config.dataDir,
  });
  if (exclusive) await engine.write(() => failAbandoned(Date.now(), Date.now()));

  const closing = new AbortController();
  const tracer =
    config.tracing === null
      ? null
      : new (await import("./telemetry/tracing/tracer.ts")).Tracer(config.tracing);
  const notifier = new Notifier(engine);
  const logs = new LogWriter(engine);
  const storage = await openStorage(config);
  const packages = new Packages(config.dataDir, storage, limits);
  const deployments = new DeploymentCache(engine);
  const definitionOf = (orgId: string, deploymentId: string): Promise<ProjectDefinition> =>
    deployments.definition(orgId, deploymentId);
  const vault = new Vault(engine, masterKeys);
  const redactors = new Redactors();
  const counters = new Counters(engine);
  const rejections = new RejectionLog(engine, counters, local?.onRejection);
  const owner = newOwner();
  const executor = new Executor({
    engine,
    owner,
    limits,
    logs,
    tracer,
    definitionOf,
    async secretsOf(orgId, environment) {
      const opened = await vault.open(orgId, environment);
      redactors.add(orgId, opened.all);
      return opened;
    },
    redactorOf: (orgId) => redactors.of(orgId),
    post: createPost(config.runners.network),
    // A developer's failures must not reach the operators of the deployed project.
    reportsFailures: local === null,
    retriesAtOnce: local?.purpose === "test",
    onEnd(row, { to }) {
      if (to !== "queued") counters.ended(row, to, Date.now());
    },
    onAttempt: (executionId) => local?.onAttempt(executionId),
  });
  const scheduler = new Scheduler({ engine, clock: systemClock });
  const worker =
    boundary === null
      ? null
      : openWorker({
          ...{ config, store: parts.store, boundary, owner, executor, scheduler, notifier, logs },
          ...{ redactors, deployments, storage, packages },
          runsSchedules: local?.purpose !== "test",
          isLocal: local !== null,
        });
  const organizationOf = async (id: string): Promise<string> => (await deployments.location(id)).orgId;
  const pools = worker?.pools ?? new RemotePools({ engine, organizationOf, closing: closing.signal });
  const routes = new RouteTable(engine);
  const trigger = new Trigger({ routes, executor, counters });
  const app: App = {
    config,
    baseUrl: () => config.publicUrl ?? url,
    engine,
    storage,
    packages,
    pools,
    boundary,
    isLocal: local !== null,
    executor,
    scheduler,
    routes,
    trigger,
    notifier,
    logs,
    definitionOf,
    counters,
    vault,
    redactorOf: (orgId) => redactors.of(orgId),
    senders: new Senders(new TrustedProxies(config.trustedProxies)),
    limits: new WebhookLimits(limits),
    rejections,
    follow: { pace: new FollowPace(closing.signal), batches: new SharedBatches() },
    sns: new SnsVerifier(parts.fetchUrl),
    fetchUrl: parts.fetchUrl,
    waiters: new Waiters(engine, notifier, closing.signal),
    tracer,
    closing: closing.signal,
  };
  const collector = new MetricsCollector({ engine, pools, executor, listener, role: config.role });
  const metrics = { collector, token: config.metrics.token };
  const metricsPort =
    config.metrics.port === null
      ? null
      : await openMetricsPort(collector, config.metrics.port, config.metrics.host);
  const stopMeasuring = measureLoopDelay();
  let ready = false;
  await worker?.start();

  return {
    url,
    publicUrl: app.baseUrl(),
    metricsUrl: metricsPort?.url ?? null,
    isolation: boundary === null ? null : describeBoundary(boundary),
    enforcesNetwork: boundary !== null && enforcesNetwork(boundary),
    async open(showFirstKey) {
      const isReady = (): boolean => ready;
      if (config.role === "worker") {
        serve(createProbes(new Readiness(app), isReady, metrics));
      } else {
        await prepareFirstRun(parts.store, config.apiKey, showFirstKey);
        const authenticator = new Authenticator(parts.store);
        serve(createDispatcher({ app, authenticator, keyWatch: new KeyWatch(engine), metrics, isReady }));
      }
      ready = true;
    },
    async close(graceMs = shutdownGraceMs) {
      ready = false;
      const drained = listener.drain();
      closing.abort();
      await worker?.close();
      await executor.close(graceMs);
      // Streams have ended, and their last bytes are on the way.
      await Promise.race([drained, setTimeout(flushMs)]);
      listener.close();
      await drained;
      stopMeasuring();
      await metricsPort?.close();
      await rejections.flush();
      await tracer?.close();
      await counters.close();
      await parts.store.close();
      worker?.release();
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
