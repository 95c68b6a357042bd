/** All executions of this child. */
import { inspect } from "node:util";
import type { Log } from "../../../project/authoring.ts";
import type { JsonObject } from "../../../project/json.ts";
import type { Channel } from "./channel.ts";
import { logFor } from "./console.ts";
import { current, runIn } from "./current.ts";
import { ErrorDescriber, ExitError } from "./errors.ts";
import { Execution } from "./execution.ts";
import { cutLine } from "./lines.ts";
import type { Modules } from "./modules.ts";
import type { ChildFailure, ChildLimits, LogMessage, ToChild } from "./protocol.ts";

export class Executions {
  readonly modules: Modules;
  readonly limits: ChildLimits;
  readonly #channel: Channel;
  readonly #describer: ErrorDescriber;
  readonly #live = new Map<string, Execution>();

  constructor(channel: Channel, modules: Modules, directory: string, limits: ChildLimits) {
    this.#channel = channel;
    this.modules = modules;
    this.limits = limits;
    this.#describer = new ErrorDescriber(directory, process.cwd());
    process.on("uncaughtException", (error) => this.#uncaught(error));
    process.on("unhandledRejection", (reason) => {
      if (reason instanceof ExitError) return;
      const { stack, message } = this.#describer.describe(reason);
      this.write(current(), "error", `Unhandled rejection: ${stack || message}`);
    });
  }

  take(message: Exclude<ToChild, { t: "init" | "ping" }>): void {
    switch (message.t) {
      case "job": {
        const execution = new Execution(this, message.job);
        this.#live.set(execution.id, execution);
        runIn(execution, () => void execution.start());
        return;
      }
      case "abort": {
        const name = message.reason === "timeout" ? "TimeoutError" : "AbortError";
        this.#live.get(message.id)?.abort(new DOMException(message.message, name));
        return;
      }
      case "ran":
        void this.#live
          .get(message.id)
          ?.ran(message.index, message.executionId, message.output, message.error);
        return;
      case "load":
        void this.#load(message.module);
    }
  }

  done(execution: Execution, output: string): void {
    this.#live.delete(execution.id);
    this.#channel.send({ t: "done", id: execution.id, output });
  }

  failed(execution: Execution, thrown: unknown, final: boolean, reason: ChildFailure): void {
    this.#live.delete(execution.id);
    const error = this.#describer.describe(thrown);
    const exited = thrown instanceof ExitError;
    this.#channel.send({ t: "fail", id: execution.id, error, final, reason: exited ? "exit" : reason });
    if (exited) this.#channel.send({ t: "spoiled" });
  }

  run(execution: Execution, index: number, name: string, input: JsonObject, key: string | null): void {
    this.#channel.send({ t: "run", id: execution.id, index, name, input, key });
  }

  logOf(execution: Execution): Log {
    return logFor(this, execution);
  }

  /** Writes a line to the log of an execution, or to the child's own when that has ended. */
  write(execution: Execution | undefined, level: LogMessage["level"], line: string): void {
    const owner = execution?.live ? execution : undefined;
    if (owner !== undefined) {
      owner.loggedLines += 1;
      const { logLines } = this.limits;
      if (owner.loggedLines > logLines) {
        if (owner.loggedLines > logLines + 1) return;
        level = "warn";
        line = `The log ends here: an execution may write ${logLines} lines`;
      }
    }
    this.#channel.log({
      id: owner?.id ?? null,
      level,
      text: cutLine(line, this.limits.logLineBytes),
      atMs: Date.now(),
    });
  }

  #uncaught(error: unknown): void {
    if (error instanceof ExitError) return;
    const execution = current();
    if (execution?.live) execution.uncaught(error);
    else
      this.write(undefined, "error", `Uncaught ${this.#describer.describe(error).stack || inspect(error)}`);
    this.#channel.send({ t: "spoiled" });
  }

  async #load(module: string): Promise<void> {
    try {
      await this.modules.load(module);
      this.#channel.send({ t: "loaded", module, error: null, file: null, line: null });
    } catch (thrown) {
      const error = this.#describer.describe(thrown);
      this.#channel.send({ t: "loaded", module, error, file: null, line: null });
    }
  }
}
