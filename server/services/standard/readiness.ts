/** The readiness of the server, for `/readyz` and the health service of gRPC: neither needs a key. */
import type { App } from "../app.ts";
import { checkParts, isWell } from "../health.ts";

/** How often the health is checked while somebody watches it. */
const intervalMs = 1_000;

export class Readiness {
  readonly #app: App;
  readonly #watchers = new Set<(ready: boolean) => void>();
  #running: Promise<boolean> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(app: App) {
    this.#app = app;
    app.closing.addEventListener("abort", () => this.#tell(false), { once: true });
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** The checks read the store and write a file: callers that ask during one share its result. */
  async check(): Promise<boolean> {
    if (this.#app.closing.aborted) return false;
    this.#running ??= checkParts(this.#app)
      .then((checks) => Object.values(checks).every(isWell))
      .finally(() => {
        this.#running = null;
      });
    return (await this.#running) && !this.#app.closing.aborted;
  }

  /** Calls the watcher with the result of each check, and with false when the server stops. @returns a function that ends it */
  watch(watcher: (ready: boolean) => void): () => void {
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(
      () => void this.check().then((ready) => this.#tell(ready)),
      intervalMs,
    ).unref();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  #tell(ready: boolean): void {
    for (const watcher of [...this.#watchers]) watcher(ready);
  }
}
