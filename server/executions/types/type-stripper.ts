/**
 * Strips the types of packages for runners on Node, which otherwise load the parser for it when they start: that takes
 * 50 ms, twice the start of Node itself. A package is stripped when one of its runners has ended and another may follow.
 *
 * A process of its own does it, because the parser would stay in the server's memory. Rejected: stripping at push, because
 * only Node can do it without moving positions, and a package must not depend on the runtime of the command line.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { strippedFolder } from "../runner/protocol.ts";
import type { Boundary } from "../sandbox/boundary.ts";

const here = fileURLToPath(import.meta.url);
const program = join(dirname(here), `program${extname(here)}`);

const timeoutMs = 60_000;

/** States: *open*, then *closed*: it strips nothing more. */
export class TypeStripper {
  readonly #boundary: Boundary;
  readonly #scratchRoot: string;
  readonly #closing = new AbortController();
  /** Strips one package after another. Never rejects. */
  #last: Promise<void> = Promise.resolve();

  constructor(boundary: Boundary, scratchRoot: string) {
    this.#boundary = boundary;
    this.#scratchRoot = scratchRoot;
  }

  /**
   * Resolves when the package has been stripped, before or now, or when that is not possible.
   *
   * @param directory - the unpacked package, which must not be removed meanwhile
   */
  strip(directory: string): Promise<void> {
    if (this.#boundary.runtime !== "node") return Promise.resolve();
    this.#last = this.#last.then(() => this.#strip(directory));
    return this.#last;
  }

  /** Resolves when nothing is written any more. */
  close(): Promise<void> {
    this.#closing.abort();
    return this.#last;
  }

  async #strip(directory: string): Promise<void> {
    const { signal } = this.#closing;
    const target = join(directory, strippedFolder);
    if (signal.aborted || existsSync(target)) return;
    const draft = join(this.#scratchRoot, randomUUID());
    try {
      await mkdir(this.#scratchRoot, { recursive: true });
      const args = ["--disable-warning=ExperimentalWarning", program, directory, draft];
      await promisify(execFile)(this.#boundary.binary, args, {
        env: {},
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        signal,
      });
      await rename(draft, target);
    } catch {
      // Runners strip the modules themselves.
      await rm(draft, { recursive: true, force: true }).catch(() => {});
    }
  }
}
