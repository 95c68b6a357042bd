/** The environment of a scenario: pools with a package of their own, and the server's side of `ctx.run`. */
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../project/json.ts";
import type {
  Attempt,
  AttemptResponse,
  ChildExecutionRequest,
  ChildExecutionResult,
  LogEntry,
  Outcome,
  PoolLimits,
  Pools,
} from "../../server/executions/pool/index.ts";
import { createPools } from "../../server/executions/pool/index.ts";
import type { Boundary } from "../../server/executions/sandbox/boundary.ts";
import { brokenModules } from "./broken.ts";

/** Low enough to be reached quickly, high enough for a busy machine. */
export const labLimits: PoolLimits = {
  memoryBytes: 96 * 2 ** 20,
  outputBytes: 1_000_000,
  logLineBytes: 1000,
  logLines: 100,
  executionsPerRunner: 8,
  runnersPerDeployment: 3,
  idleMs: 60_000,
  killGraceMs: 3000,
  blockedMs: 1500,
};

export interface Lifeline {
  outcome: Promise<Outcome>;
  /** Resolves when the process of the agent has ended. */
  ended: Promise<unknown>;
  /** Makes an agent that returned start an endless loop; resolves when it has started. */
  spin(): Promise<void>;
  pid: number;
}

export class Lab {
  /** Contains all files of this lab. */
  readonly folder: string;
  readonly package: string;
  readonly pools: Pools;
  readonly logs: LogEntry[] = [];
  /** The outcomes of attempts, except successes. */
  readonly outcomes: Outcome[] = [];
  /** The responses set with `ctx.respond`, by execution. */
  readonly responses: Map<string, AttemptResponse> = new Map();
  /** The calls of `ctx.run`, in order. */
  readonly calls: (ChildExecutionRequest & { executionId: string })[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void> & { arrived: PromiseWithResolvers<void> }>();
  readonly #deploymentId: string;
  #attempts = 0;
  #server: Server | undefined;
  readonly #lifelines: Socket[] = [];

  /** @param boundary - default: this runtime without a sandbox */
  constructor(name: string, limits: Partial<PoolLimits> = {}, boundary?: Boundary) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), `svc pool ${name} `)));
    this.package = join(this.folder, "package");
    this.#deploymentId = `dep_${name}`;
    cpSync(join(dirname(fileURLToPath(import.meta.url)), "package"), this.package, { recursive: true });
    for (const [path, text] of Object.entries(brokenModules)) this.write(path, text);
    this.pools = createPools({
      ...(boundary !== undefined && { boundary }),
      limits: { ...labLimits, ...limits },
      scratchRoot: join(this.folder, "scratch"),
      locate: async (deploymentId) => ({
        deploymentId,
        directory: this.package,
        modules: ["agents/outcome.ts"],
      }),
      events: {
        log: (_, entries) => void this.logs.push(...entries),
        respond: (executionId, response) => void this.responses.set(executionId, response),
        runChildExecution: (executionId, request, signal) => this.#onRun(executionId, request, signal),
      },
    });
  }

  get deploymentId(): string {
    return this.#deploymentId;
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.package, path)), { recursive: true });
    writeFileSync(join(this.package, path), text);
  }

  attempt(agent: string, input: JsonObject, more: Partial<Attempt> = {}): Attempt {
    this.#attempts += 1;
    return {
      executionId: `exe_${this.#attempts}`,
      organizationId: "org_lab",
      deploymentId: this.#deploymentId,
      environment: "production",
      kind: "agent",
      name: agent,
      module: `agents/${agent}.ts`,
      input,
      attemptNumber: 1,
      trigger: "test",
      timeoutMs: 20_000,
      secrets: {},
      unreadableSecrets: [],
      alone: false,
      ...more,
    };
  }

  async run(agent: string, input: JsonObject, more: Partial<Attempt> = {}): Promise<Outcome> {
    const outcome = await this.pools.run(this.attempt(agent, input, more));
    if (outcome.type !== "succeeded") this.outcomes.push(outcome);
    return outcome;
  }

  /** Log lines of an execution, or null for lines outside of executions. */
  lines(executionId: string | null): { level: string; message: string; fields?: string }[] {
    return this.logs
      .filter((entry) => entry.executionId === executionId)
      .map(({ level, message, fields }) => ({ level, message, ...(fields !== undefined && { fields }) }));
  }

  /** Opens a gate for the agents that wait at it, and for later ones. */
  open(gate: string): void {
    this.#gate(gate).resolve();
  }

  /** Resolves when an agent has reached a gate. */
  arrival(gate: string): Promise<void> {
    return this.#gate(gate).arrived.promise;
  }

  /** Runs an agent with a connection that shows when its process ends. */
  async lifeline(then: string, more: Partial<Attempt> = {}): Promise<Lifeline> {
    this.#server ??= createServer((socket) => void this.#lifelines.push(socket)).listen(0, "127.0.0.1");
    const server = this.#server;
    if (!server.listening) await once(server, "listening");
    const connected = once(server, "connection") as Promise<[Socket]>;
    const port = (server.address() as { port: number }).port;
    const outcome = this.run("lifeline", { port, then }, more);
    const [socket] = await connected;
    const ended = new Promise((resolve) => socket.once("close", resolve).on("error", () => {}));
    const [pid] = (await once(socket, "data")) as [Buffer];
    let received = "";
    const began = Promise.withResolvers<void>();
    const spoke = Promise.withResolvers<void>();
    socket.on("data", (chunk) => {
      received += chunk;
      if (received.includes("begin")) began.resolve();
      if (received.includes("spinning")) spoke.resolve();
    });
    socket.write("go on");
    await began.promise;
    const spin = () => {
      socket.write("spin");
      return spoke.promise;
    };
    return { outcome, ended, spin, pid: Number(pid.toString()) };
  }

  async close(): Promise<void> {
    await this.pools.close(0);
    for (const socket of this.#lifelines) socket.destroy();
    this.#server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #onRun(
    executionId: string,
    request: ChildExecutionRequest,
    signal: AbortSignal,
  ): Promise<ChildExecutionResult> {
    this.calls.push({ executionId, ...request });
    switch (request.name) {
      case "echo":
        return { executionId: "exe_child", output: request.input };
      case "fail":
        return {
          executionId: "exe_child",
          error: { name: "RangeError", message: "no", stack: "RangeError: no" },
        };
      case "nest": {
        const outcome = await this.run("nest", request.input);
        if (outcome.type !== "succeeded") throw new Error(`nested: ${JSON.stringify(outcome)}`);
        return { executionId: "exe_child", output: JSON.parse(outcome.output) };
      }
      default: {
        const gate = this.#gate(String(request.input.gate));
        gate.arrived.resolve();
        await Promise.race([gate.promise, once(signal, "abort")]);
        return { executionId: "exe_child", output: null };
      }
    }
  }

  #gate(name: string): PromiseWithResolvers<void> & { arrived: PromiseWithResolvers<void> } {
    let gate = this.#gates.get(name);
    if (gate === undefined) {
      gate = { ...Promise.withResolvers<void>(), arrived: Promise.withResolvers<void>() };
      this.#gates.set(name, gate);
    }
    return gate;
  }
}
