import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { bareEnvironment, commandOf, fastRunners, type Runtime } from "../support/runtimes.ts";
import { launcher } from "./support.ts";

/** A running `svc dev`, which the end of the test kills. */
export class DevProcess {
  readonly child: ChildProcess;
  /** Standard output and standard error. */
  output = "";
  readonly #waiting = new Set<() => void>();
  readonly #ended: Promise<number | null>;
  /** What was matched before is not matched again. */
  #read = 0;

  constructor(runtime: Runtime, cwd: string, args: readonly string[], env: Record<string, string> = {}) {
    const [program, ...before] = commandOf(runtime);
    this.child = spawn(program, [...before, launcher, "dev", ...args], {
      cwd,
      env: { ...bareEnvironment(), ...fastRunners, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
        for (const look of [...this.#waiting]) look();
      });
    }
    this.#ended = once(this.child, "close").then(([code]) => {
      for (const look of [...this.#waiting]) look();
      return code;
    });
    onTestFinished(({ task }) => {
      this.child.kill("SIGKILL");
      if (task.result?.state === "fail") console.error(`The output of svc dev:\n${this.output}`);
    });
  }

  /** Resolves when the output after the previous match matches. @throws Error when the process ends first */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(this.output.slice(this.#read));
        if (match === null && this.child.exitCode === null && this.child.signalCode === null) return;
        this.#waiting.delete(look);
        if (match === null) {
          reject(new Error(`It ended without ${pattern}:\n${this.output}`));
        } else {
          this.#read += match.index + match[0].length;
          resolve(match);
        }
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** @returns the exit code */
  stop(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.#ended;
  }
}
