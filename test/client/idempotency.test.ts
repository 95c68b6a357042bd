/** `Idempotency-Key` of RunExecution: repeated requests start one execution. */
import { beforeAll, expect, test } from "vitest";
import { createClient, isSvcError } from "../../client/index.ts";
import { run } from "../../server/store/engine.ts";
import { deploy } from "../support/project.ts";
import { call, expectError } from "../support/rest.ts";
import type { ExecutionJson } from "../support/shapes.ts";
import { useServer } from "../support/suite.ts";

const server = useServer("bun");
const client = () => createClient({ baseUrl: server.url, apiKey: server.apiKey });

beforeAll(async () => {
  const agents = {
    echo: "export default (input) => { if (input.fail) throw new Error('no'); return input; };",
    other: "export default () => null;",
  };
  await deploy(server, { agents });
  await deploy(server, { agents }, { environment: "staging" });
});

test("concurrent and later requests with one key start one execution", async () => {
  const run = () => client().start("echo", { n: 1 }, { idempotencyKey: "one" });
  const started = await Promise.all([run(), run(), run()]);
  started.push(await run());
  expect(new Set(started.map(({ executionId }) => executionId)).size).toBe(1);
  expect(await client().run("echo", { n: 1 }, { idempotencyKey: "one" })).toEqual({ n: 1 });
});

test("a repeat of a failed execution returns the failure", async () => {
  const run = () =>
    client()
      .run("echo", { fail: true }, { idempotencyKey: "failing" })
      .catch((error: unknown) => error);
  const [first, second] = [await run(), await run()];
  if (!isSvcError(first) || !isSvcError(second)) throw new Error("Both must fail.");
  expect(second.reason).toBe("EXECUTION_FAILED");
  expect(second.executionId).toBe(first.executionId);
});

test("a key with another input or target is refused", async () => {
  await client().start("echo", { n: 2 }, { idempotencyKey: "two" });
  for (const call of [
    client().start("echo", { n: 3 }, { idempotencyKey: "two" }),
    client().start("other", { n: 2 }, { idempotencyKey: "two" }),
  ]) {
    await expect(call).rejects.toMatchObject({ code: "invalid_argument", reason: "IDEMPOTENCY_KEY_REUSED" });
  }
});

test("a key whose execution was deleted is refused until it expires", async () => {
  const start = () => client().start("echo", {}, { idempotencyKey: "deleted" });
  const { executionId } = await start();
  const engine = await server.openStore();
  await engine.write(() => run("DELETE FROM executions WHERE execution_id = ?1", executionId));
  await engine.close();
  await expect(start()).rejects.toMatchObject({ code: "not_found", reason: "RESOURCE_NOT_FOUND" });
});

test("environments have keys of their own", async () => {
  const staging = createClient({ baseUrl: `${server.url}/env/staging`, apiKey: server.apiKey });
  const first = await client().start("echo", {}, { idempotencyKey: "three" });
  const second = await staging.start("echo", {}, { idempotencyKey: "three" });
  expect(second.executionId).not.toBe(first.executionId);
  expect(second.environment).toBe("staging");
});

test("REST takes the header and names repeats", async () => {
  const post = (json: object, key: string) =>
    call<ExecutionJson>(server, "POST", "/api/v1/executions", { json, headers: { "idempotency-key": key } });
  const first = await post({ name: "echo", input: { a: 1 } }, '"four"');
  const again = await post({ name: "echo", input: { a: 1 } }, "four");
  expect(again.json.execution_id).toBe(first.json.execution_id);
  expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
  expectError(await post({ name: "echo" }, "four"), 422, "invalid_argument", /key was used with another/);
  expectError(await post({ name: "echo" }, "x".repeat(256)), 400, "invalid_argument", /idempotency-key/);
});
