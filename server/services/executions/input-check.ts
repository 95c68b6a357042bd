/**
 * Checks the inputs of new executions against the schemas of the code, before they are stored.
 *
 * The schema itself checks, in a runner, and not a JSON Schema validator in the server: every path then reports the same
 * violations, also of rules that JSON Schema cannot express, and hostile schemas (patterns with exponential time, endless
 * references) cannot block the server. Without an answer in time the execution is accepted: its attempt checks the input
 * again.
 */
import type { ConnectError } from "@connectrpc/connect";
import type { JsonObject } from "../../../project/json.ts";
import { fail, schemaDetails } from "../../errors.ts";
import type { Violation } from "../../executions/pool/contract.ts";
import { redactViolations } from "../../executions/run-attempt.ts";
import { LruCache } from "../../lru.ts";
import type { App } from "../app.ts";

/** A transaction has stored nothing, because the input must be checked first. */
export class Unchecked {
  readonly deploymentId: string;
  readonly name: string;
  /** Path of the module in the package. */
  readonly module: string;

  constructor(deploymentId: string, name: string, module: string) {
    this.deploymentId = deploymentId;
    this.name = name;
    this.module = module;
  }
}

export interface StoreRequest<Result> {
  orgId: string;
  input: JsonObject;
  /** Names the target, so that a later request saves a transaction. Null when it is not worth it. */
  key: string | null;
  /** @param checked - the deployment whose schema has accepted the input; null for none */
  store(checked: string | null): Promise<Result | Unchecked>;
}

/** Targets whose schema is known. */
const maxKnown = 10_000;

export class InputChecks {
  readonly #app: App;
  readonly #known = new LruCache<string, Unchecked>(maxKnown);

  constructor(app: App) {
    this.#app = app;
  }

  /**
   * Runs a transaction after the input was checked with the deployment that the transaction chooses. A target without a
   * schema needs only the transaction.
   *
   * @throws ConnectError INPUT_INVALID with the violations
   */
  async store<Result>({ orgId, input, key, store }: StoreRequest<Result>): Promise<Result> {
    let target = key === null ? undefined : this.#known.get(key);
    let violations: Violation[] | null = null;
    for (;;) {
      if (target !== undefined) violations = await this.#violations(orgId, target, input);
      // After violations it only finds out whether the deployment is still the same.
      const checked: string | null = violations === null ? (target?.deploymentId ?? null) : null;
      const result: Result | Unchecked = await store(checked);
      if (!(result instanceof Unchecked)) return result;
      if (violations !== null && result.deploymentId === target?.deploymentId) {
        throw invalidInput(result.name, violations);
      }
      target = result;
      if (key !== null) this.#known.set(key, result);
    }
  }

  async #violations(orgId: string, target: Unchecked, input: JsonObject): Promise<Violation[] | null> {
    const found = await this.#app.pools.validate(target.deploymentId, target.module, input);
    const redactor = this.#app.redactorOf(orgId);
    return found === null || redactor === undefined ? found : redactViolations(redactor, found);
  }
}

function invalidInput(name: string, violations: readonly Violation[]): ConnectError {
  const list = violations.map(({ field, description }) => `${field}: ${description}`);
  return fail("INPUT_INVALID", `The input violates the schema of '${name}':\n${list.join("\n")}`, {
    metadata: { name },
    details: schemaDetails(violations),
  });
}
