import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { call, expectError, ok } from "../../support/rest.ts";
import type { ExecutionPage } from "../../support/shapes.ts";
import { useServer } from "../../support/suite.ts";

const server = useServer("node");

test("answers 503 while the store is locked, does not store the request later, and recovers", async () => {
  const agents = { echo: { code: "export default (input) => input;", webhooks: [{ slug: "hook" }] } };
  const { webhooks } = await deploy(server, { agents });
  const url = webhooks[0]?.url ?? "";
  // Another process holds the write lock.
  const other = new DatabaseSync(join(server.dataDir, "svc.db"));
  other.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  const refused = await call(server, "POST", url, { key: null, json: { lost: true } });
  expectError(refused, 503, "unavailable", /cannot write to its store/);
  expect(refused.text).not.toMatch(/sqlite|locked|svc\.db/i);
  other.exec("ROLLBACK");
  other.close();
  expect((await call(server, "POST", url, { key: null, json: { kept: true } })).status).toBe(202);
  const { executions } = await ok<ExecutionPage>(server, "GET", "/api/v1/executions?view=full");
  expect(executions.map(({ input }) => input)).toEqual([{ kept: true }]);
});
