/** The executions whose log entries a stream sends: one execution, and its child executions as they start. */
import { isEnd } from "../../executions/states.ts";
import type { Engine } from "../../store/engine.ts";
import { childStates, type ExecutionState, executionStates } from "../../store/tables/execution-tree.ts";

/** Entries of further executions are left out. */
export const maxMembers = 500;

/** An execution is *open* until it has ended and its child executions were read after that. */
export class Members {
  readonly #engine: Engine;
  readonly #orgId: string;
  readonly #ids: Set<string>;
  readonly #open: Set<string>;
  #isComplete = true;

  constructor(engine: Engine, orgId: string, rootId: string) {
    this.#engine = engine;
    this.#orgId = orgId;
    this.#ids = new Set([rootId]);
    this.#open = new Set([rootId]);
  }

  get ids(): string[] {
    return [...this.#ids];
  }

  /** False when there are more executions than `maxMembers`. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Finds all executions that have started before the call. */
  async refresh(): Promise<void> {
    if (this.#open.size === 0) return;
    const states = await this.#engine.read(() => executionStates(this.#orgId, [...this.#open]));
    const ended = states.filter(({ status }) => isEnd(status));
    let parents = [...this.#open];
    while (parents.length > 0) {
      const ids = parents;
      const children = await this.#engine.read(() => childStates(this.#orgId, ids));
      parents = children
        .filter(({ execution_id }) => !this.#ids.has(execution_id))
        .flatMap((row) => this.#add(row));
    }
    for (const { execution_id } of ended) this.#open.delete(execution_id);
  }

  #add({ execution_id: id, status }: ExecutionState): string[] {
    if (this.#ids.size === maxMembers) {
      this.#isComplete = false;
      return [];
    }
    this.#ids.add(id);
    if (!isEnd(status)) this.#open.add(id);
    return [id];
  }
}
