/**
 * Checks the inputs of new executions against the schemas of the code, before they are stored.
 *
 * The schema itself checks, in a runner, and not a JSON Schema validator in the server: every path then reports the same
 * violations, also of rules that JSON Schema cannot express, and hostile schemas (patterns with exponential time, endless
 * references) cannot block the server. Without an answer in time the execution is accepted: its attempt checks the input
 * again.
 */
import type { JsonObject } from "../../../project/json.ts";
import { fail, schemaDetails } from "../../errors.ts";
import { redactViolations } from "../../executions/run-attempt.ts";
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

/**
 * Repeats a transaction until the input has been checked with the deployment that runs it. Only targets with a schema need
 * a second transaction.
 *
 * @param store - receives the deployment whose schema has accepted the input
 * @throws ConnectError INPUT_INVALID with the violations
 */
export async function storeChecked<Result>(
  app: App,
  orgId: string,
  input: JsonObject,
  store: (checked: string | null) => Promise<Result | Unchecked>,
): Promise<Result> {
  let checked: string | null = null;
  for (;;) {
    const result: Result | Unchecked = await store(checked);
    if (!(result instanceof Unchecked)) return result;
    await check(app, orgId, input, result);
    checked = result.deploymentId;
  }
}

async function check(app: App, orgId: string, input: JsonObject, target: Unchecked): Promise<void> {
  const found = await app.pools.validate(target.deploymentId, target.module, input);
  if (found === null) return;
  const redactor = app.redactorOf(orgId);
  const violations = redactor === undefined ? found : redactViolations(redactor, found);
  const list = violations.map(({ field, description }) => `${field}: ${description}`);
  throw fail("INPUT_INVALID", `The input violates the schema of '${target.name}':\n${list.join("\n")}`, {
    metadata: { name: target.name },
    details: schemaDetails(violations),
  });
}
