/**
 * Whose turn it is when more wants to run than the machine has processors.
 *
 * Linux shares processors first between sessions, of which each runner has one (`autogroup`, sched(7)); their values can
 * be lowered and raised again. In containers and systemd's units there are no such groups, and the values of the single
 * threads count, which only a privileged process can raise again: they are lowered for what really disturbs alone.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Of 19, the lowest. A process at 10 gets a tenth of what another gets that wants the same processor. */
const low = 10;

/** Without privileges, sessions' values may be set ten times a second, by all processes of the machine. */
const againMs = 110;
const maxTries = 50;

/** States: *normal*; *low* from `lower` until `restore`. */
export class Priority {
  readonly #pid: number;
  #session = 0;
  #threadsAreLow = false;
  #tries = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param pid - of a process in a session of its own */
  constructor(pid: number) {
    this.#pid = pid;
  }

  /** @param threads - also in a way that may not be undone */
  lower(threads: boolean): void {
    this.#setSession(low);
    if (!threads || this.#threadsAreLow) return;
    this.#threadsAreLow = true;
    this.#setThreads(low);
  }

  /** @returns false when the process stays low for its life */
  restore(): boolean {
    this.#setSession(0);
    if (!this.#threadsAreLow) return true;
    this.#setThreads(0);
    this.#threadsAreLow = this.#isLow();
    return !this.#threadsAreLow;
  }

  #setSession(value: number): void {
    if (value === this.#session || process.platform !== "linux") return;
    this.#session = value;
    this.#tries = 0;
    this.#writeSession();
  }

  #writeSession(): void {
    clearTimeout(this.#timer);
    try {
      writeFileSync(`/proc/${this.#pid}/autogroup`, String(this.#session));
    } catch (error) {
      // Else it has ended, or the kernel has no such groups.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || ++this.#tries === maxTries) return;
      this.#timer = setTimeout(() => this.#writeSession(), againMs * (1 + Math.random()));
      this.#timer.unref();
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

  #isLow(): boolean {
    try {
      return getPriority(this.#pid) > 0;
    } catch {
      return false;
    }
  }
}

/** USER_HZ is 100 on every architecture that the runtimes know. */
const tickMs = 10;

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
