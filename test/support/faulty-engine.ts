/** A store with faults: it is unavailable, or loses the answer of a commit. */
import type { Engine, Listener, Program, Topic } from "../../server/store/engine.ts";
import { StoreUnavailable } from "../../server/store/unavailable.ts";

export class FaultyEngine implements Engine {
  readonly ordered = false;
  readonly #engine: Engine;
  isDown = false;
  /** The next write takes effect, and then fails, as when the connection is lost during the commit. */
  losesNextAnswer = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async write<Result>(program: () => Program<Result>): Promise<Result> {
    this.#check();
    const isLost = this.losesNextAnswer;
    this.losesNextAnswer = false;
    const result = await this.#engine.write(program);
    if (isLost) throw new StoreUnavailable("The outcome of a write is unknown.");
    return result;
  }

  async read<Result>(program: () => Program<Result>): Promise<Result> {
    this.#check();
    return this.#engine.read(program);
  }

  listen(topic: Topic, listener: Listener): () => void {
    return this.#engine.listen(topic, listener);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  #check(): void {
    if (this.isDown)
      throw new StoreUnavailable("The store is unreachable: connect ECONNREFUSED 10.0.0.5:5432");
  }
}
