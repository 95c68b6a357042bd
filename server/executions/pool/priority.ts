/**
 * Whose turn it is when more wants to run than the machine has processors.
 *
 * Linux shares processors first between sessions, of which each child has one (`autogroup`, sched(7)); their values can
 * be lowered and raised again. In containers and systemd's units there are no such groups, and the values of the single
 * threads count, which only a privileged process can raise again: these are lowered for what disturbs, not for starts.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** Of 19, the lowest. A process at 10 gets a tenth of what another gets that wants the same processor. */
const low = 10;

/** States: *low*, from the start; *normal* from `restore`, until `lower`. */
export class Priority {
  readonly #pid: number;
  #isLow = true;
  #threadsAreLow = false;

  /** @param pid - of a process that has just started, in a session of its own */
  constructor(pid: number) {
    this.#pid = pid;
    this.#setSession(low);
  }

  lower(): void {
    if (this.#isLow && this.#threadsAreLow) return;
    this.#isLow = true;
    this.#threadsAreLow = true;
    this.#setSession(low);
    this.#setThreads(low);
  }

  restore(): void {
    if (!this.#isLow) return;
    this.#isLow = false;
    this.#setSession(0);
    if (this.#threadsAreLow) this.#setThreads(0);
    this.#threadsAreLow = false;
  }

  #setSession(value: number): void {
    if (process.platform !== "linux") return;
    try {
      writeFileSync(`/proc/${this.#pid}/autogroup`, String(value));
    } catch {
      // It is ending, the kernel has no such groups, or it was told too often: ten times a second, of all processes.
    }
  }

  #setThreads(value: number): void {
    for (const thread of this.#threads()) {
      try {
        setPriority(thread, value);
      } catch {
        // It is ending, or it may not be raised again.
      }
    }
  }

  #threads(): number[] {
    try {
      if (process.platform === "linux") return readdirSync(`/proc/${this.#pid}/task`).map(Number);
    } catch {
      // It is ending.
    }
    return [this.#pid];
  }
}

/** Processor time that a process has used, in ms; null when it cannot be told. */
export function processorMs(pid: number): number | null {
  if (process.platform !== "linux") return null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // After the name, which may hold anything, from the state on: the 12th and 13th are user's and system's time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}

/** USER_HZ is 100 on every architecture that the runtimes know. */
const tickMs = 10;
