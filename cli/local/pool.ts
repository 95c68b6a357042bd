import { rmSync } from "node:fs";
import { mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { JsonObject, JsonValue } from "../../project/json.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import { stageFiles } from "../../project/stage.ts";
import { loadConfig } from "../../server/config.ts";
import {
  type AttemptResponse,
  type ChildExecutionResult,
  createPools,
  type LogEntry,
  type ModuleCheck,
  type Outcome,
  type Pools,
  type SerializedError,
} from "../../server/executions/pool/index.ts";
import { orderedId, randomId } from "../../server/ids.ts";

/** The same timeout as in the service. */
const loadTimeoutMs = 20_000;
/** Levels of child executions, as in the service. */
const maxDepth = 100;

export interface LocalOptions {
  definition: ProjectDefinition;
  files: readonly CollectedFile[];
  /** The content of `ctx.secrets`. */
  secrets: Record<string, string>;
  /** Called for each log entry with the agent or workflow that wrote it; null when there is none. */
  onLog(name: string | null, entry: LogEntry): void;
}

interface RunningTarget {
  target: TargetDefinition;
  /** Levels of child executions above it. */
  depth: number;
  /** Set with `ctx.respond`. */
  response: AttemptResponse | null;
}

/**
 * A copy of the project in the runners of the service and under its limits. There is no store: failed attempts are not
 * retried, and results of child executions are not kept.
 */
export class LocalProject {
  readonly #options: LocalOptions;
  readonly #folder: string;
  readonly #pools: Pools;
  readonly #deploymentId = orderedId("dep");
  readonly #organizationId = randomId("org");
  readonly #running = new Map<string, RunningTarget>();

  private constructor(options: LocalOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
    const { limits } = loadConfig({}, process.env);
    const location = { deploymentId: this.#deploymentId, directory: join(folder, "project") };
    this.#pools = createPools({
      limits: {
        memoryBytes: limits.runnerMemoryBytes,
        outputBytes: limits.outputBytes,
        logLineBytes: limits.logLineBytes,
        logLines: limits.logLines,
        executionsPerRunner: limits.executionsPerRunner,
        runnersPerDeployment: limits.runnersPerDeployment,
        idleMs: 300_000,
        killGraceMs: 5_000,
        blockedMs: 5_000,
      },
      events: {
        log: (_, entries) => {
          for (const entry of entries) {
            const running = entry.executionId === null ? undefined : this.#running.get(entry.executionId);
            options.onLog(running?.target.name ?? null, entry);
          }
        },
        respond: (executionId, response) => {
          const running = this.#running.get(executionId);
          if (running !== undefined) running.response = response;
        },
        runChildExecution: (executionId, request, signal) =>
          this.#runChildExecution(executionId, request.name, request.input, signal),
      },
      scratchRoot: join(folder, "scratch"),
      locate: () => Promise.resolve(location),
    });
  }

  /** Copies the files to a temporary folder, which is removed at exit at the latest. */
  static async open(options: LocalOptions): Promise<LocalProject> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-local-")));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    await mkdir(join(folder, "scratch"));
    await stageFiles(options.files, join(folder, "project"));
    return new LocalProject(options, folder);
  }

  /** Loads the module of each target as the service does, and returns the failed checks. */
  async check(targets: readonly TargetDefinition[]): Promise<ModuleCheck[]> {
    const location = { deploymentId: this.#deploymentId, directory: join(this.#folder, "project") };
    const modules = targets.map(({ module }) => module);
    return (await this.#pools.check(location, modules, loadTimeoutMs)).filter(({ ok }) => !ok);
  }

  /** Starts a runner, so that the first run does not include its start. */
  warm(): Promise<void> {
    return this.#pools.warm(this.#deploymentId);
  }

  /** Runs one attempt of an agent or workflow, with its child executions. */
  async run(
    target: TargetDefinition,
    input: JsonObject,
  ): Promise<{ outcome: Outcome; response: AttemptResponse | null }> {
    const running: RunningTarget = { target, depth: 0, response: null };
    const outcome = await this.#run(running, input, "test", orderedId("exe"));
    return { outcome, response: running.response };
  }

  async close(): Promise<void> {
    await this.#pools.close(0);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #run(
    running: RunningTarget,
    input: JsonObject,
    trigger: "test" | "child",
    executionId: string,
  ): Promise<Outcome> {
    const { target } = running;
    this.#running.set(executionId, running);
    try {
      return await this.#pools.run({
        executionId,
        organizationId: this.#organizationId,
        deploymentId: this.#deploymentId,
        environment: "test",
        kind: target.kind,
        name: target.name,
        module: target.module,
        input,
        attemptNumber: 1,
        trigger,
        timeoutMs: target.timeoutSeconds * 1000,
        secrets: this.#options.secrets,
        unreadableSecrets: [],
        alone: false,
      });
    } finally {
      this.#running.delete(executionId);
    }
  }

  async #runChildExecution(
    parentId: string,
    name: string,
    input: JsonObject,
    signal: AbortSignal,
  ): Promise<ChildExecutionResult> {
    const executionId = orderedId("exe");
    const { agents, workflows } = this.#options.definition;
    const target = [...agents, ...workflows].find((one) => one.name === name);
    const depth = (this.#running.get(parentId)?.depth ?? 0) + 1;
    if (target === undefined) {
      return refusal(
        executionId,
        `Cannot run '${name}': the deployment has no agent or workflow of that name.`,
      );
    }
    if (depth > maxDepth) {
      return refusal(
        executionId,
        `Cannot run '${name}': child executions may be nested at most ${maxDepth} levels deep.`,
      );
    }
    const cancel = (): void => void this.#pools.cancel(executionId);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const child = { target, depth, response: null };
      return asChildResult(executionId, await this.#run(child, input, "child", executionId));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }
}

/** The error of an outcome; null for a success. */
export function errorOf(outcome: Outcome): SerializedError | null {
  switch (outcome.type) {
    case "succeeded":
      return null;
    case "failed":
      return outcome.error;
    case "cancelled":
      return { name: "ExecutionError", message: "The execution was cancelled.", stack: "" };
    case "lost":
      return { name: "ExecutionError", message: outcome.reason, stack: "" };
  }
}

function asChildResult(executionId: string, outcome: Outcome): ChildExecutionResult {
  const error = errorOf(outcome);
  if (error !== null) return { executionId, error };
  const output = outcome.type === "succeeded" ? outcome.output : "null";
  return { executionId, output: JSON.parse(output) as JsonValue };
}

function refusal(executionId: string, message: string): ChildExecutionResult {
  return { executionId, error: { name: "ExecutionError", message, stack: "" } };
}
