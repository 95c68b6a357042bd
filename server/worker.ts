/** The parts of a process that runs executions and schedules: runners, the scheduler and the retention. */
import type { Config } from "./config.ts";
import type { OpenStore } from "./drivers.ts";
import { runChildExecution } from "./executions/child-executions.ts";
import type { Executor } from "./executions/executor.ts";
import type { LogWriter } from "./executions/log-writer.ts";
import { CheckWorker } from "./executions/module-checks/check-worker.ts";
import { InputCheckWorker } from "./executions/module-checks/input-check-worker.ts";
import type { Notifier } from "./executions/notifier.ts";
import type { Pools } from "./executions/pool/contract.ts";
import { createPools } from "./executions/pool/index.ts";
import { PackageError } from "./executions/pool/modules.ts";
import type { Boundary } from "./executions/sandbox/boundary.ts";
import { Housekeeper } from "./housekeeper.ts";
import { runnerLogs, runnerSpans } from "./logs.ts";
import type { Scheduler } from "./schedules/scheduler.ts";
import { openScratch } from "./scratch.ts";
import type { Redactors } from "./secrets/redactors.ts";
import type { DeploymentCache } from "./services/deployments/cache.ts";
import { networkProblem } from "./services/deployments/deploy.ts";
import type { Packages } from "./services/deployments/packages.ts";
import type { ObjectStorage } from "./storage/contract.ts";

export interface WorkerParts {
  config: Config;
  store: OpenStore;
  boundary: Boundary;
  /** Names this process in leases. */
  owner: string;
  executor: Executor;
  scheduler: Scheduler;
  notifier: Notifier;
  logs: LogWriter;
  redactors: Redactors;
  deployments: DeploymentCache;
  storage: ObjectStorage;
  packages: Packages;
  runsSchedules: boolean;
  /** Whether it serves a project on the machine of its author, without the restriction of its network. */
  isLocal: boolean;
}

export interface Worker {
  pools: Pools;
  start(): Promise<void>;
  /** Stops scheduling. The executor closes the pools. */
  close(): Promise<void>;
  /** Removes the scratch folder, after the pools were closed. */
  release(): void;
}

export function openWorker(parts: WorkerParts): Worker {
  const { config, executor, scheduler, deployments, packages } = parts;
  const { engine, exclusive } = parts.store;
  const { limits } = config;
  const scratch = openScratch(config.dataDir, parts.owner);
  const definitionOf = deployments.definition.bind(deployments);
  const children = { engine, executor, notifier: parts.notifier, definitionOf };
  const pools = createPools({
    boundary: parts.boundary,
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
      log: runnerLogs(executor, deployments, parts.logs, parts.redactors),
      respond: (executionId, response) => executor.respond(executionId, response),
      span: runnerSpans(executor, parts.redactors),
      runChildExecution: (executionId, request, signal) =>
        runChildExecution(children, executionId, request, signal),
    },
    tracing: config.tracing !== null,
    scratchRoot: scratch.folder,
    async locate(deploymentId) {
      const { orgId, digest } = await deployments.location(deploymentId);
      const definition = await definitionOf(orgId, deploymentId);
      // Deployed when the boundary could enforce it, or by a server with another one.
      const problem = parts.isLocal ? null : networkProblem(parts.boundary, definition);
      if (problem !== null) throw new PackageError(problem);
      const { network } = definition;
      return { deploymentId, network, ...(await packages.use({ orgId, digest })) };
    },
  });
  const housekeeper = new Housekeeper({ ...parts, engine, ...limits });
  const checks = new CheckWorker({
    engine,
    owner: parts.owner,
    async check(deploymentId, modules, timeoutMs, inputs) {
      const { orgId, digest } = await deployments.location(deploymentId);
      const problem = networkProblem(parts.boundary, await definitionOf(orgId, deploymentId));
      if (problem !== null) return { error: problem, reason: "NETWORK_NOT_ENFORCEABLE" };
      const { directory, release } = await packages.use({ orgId, digest });
      try {
        return { checks: await pools.check({ deploymentId, directory }, modules, timeoutMs, inputs) };
      } finally {
        release();
      }
    },
  });
  const inputChecks = new InputCheckWorker({ engine, owner: parts.owner, pools });
  return {
    pools,
    async start() {
      await executor.start(pools, (owner) => exclusive || scratch.hasEnded(owner));
      if (parts.runsSchedules) scheduler.start();
      housekeeper.start();
      // Another process may accept deployments without being able to check them.
      if (!exclusive) {
        checks.start();
        inputChecks.start();
      }
    },
    async close() {
      await checks.close();
      await inputChecks.close();
      await scheduler.close();
      await housekeeper.close();
    },
    release: () => scratch.release(),
  };
}
