/** A server on PostgreSQL while the database is away. */
import { expect, onTestFinished, test, vi } from "vitest";
import { createDatabase } from "../../support/postgres/databases.ts";
import { DatabaseProxy } from "../../support/postgres/proxy.ts";
import { deploy } from "../../support/project.ts";
import { call, expectError, ok } from "../../support/rest.ts";
import { onS3, TestServer } from "../../support/server.ts";
import type { HealthJson } from "../../support/shapes.ts";

test("answers 503 while PostgreSQL is away, reports it, and recovers; a start without it fails in one sentence", async () => {
  const database = await createDatabase();
  onTestFinished(database.drop);
  const proxy = await DatabaseProxy.start(database.url);
  onTestFinished(() => proxy.close());
  const password = new URL(database.url).password;
  const server = new TestServer("node", { env: { SVC_DATABASE_URL: proxy.url } });
  onTestFinished(() => server.discard(false));
  await server.start();
  expect(server.output).toMatch(/^Store in postgres:\/\/127\.0\.0\.1:\d+\/\w+$/m);
  if (!onS3)
    expect(server.output).toMatch(/Warning: Packages are in .*: share it, or set SVC_STORAGE_URL\.$/m);
  const agents = { echo: { code: "export default (input) => input;", webhooks: [{ slug: "hook" }] } };
  const { webhooks } = await deploy(server, { agents });
  const hook = webhooks[0]?.url ?? "";
  expect((await call(server, "POST", hook, { key: null, json: {} })).status).toBe(202);
  const ready = () => fetch(`${server.url}/readyz`).then(({ status }) => status);
  expect(await ready()).toBe(200);

  proxy.down = true;
  proxy.cut();
  // When the server has not noticed it yet, the outcome of the write is unknown, and the answer says so.
  await vi.waitFor(async () => expect(await ready()).toBe(503), { timeout: 30_000 });
  const refused = await call(server, "POST", hook, { key: null, json: {} });
  expectError(refused, 503, "unavailable", /cannot reach its store/);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.text).not.toMatch(/postgres|ECONN|127\.0\.0\.1/i);

  proxy.down = false;
  await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 10_000, interval: 100 });
  expect((await call(server, "POST", hook, { key: null, json: {} })).status).toBe(202);
  const { status, checks } = await ok<HealthJson>(server, "GET", "/health");
  expect({ status, store: checks.store }).toEqual({ status: "ok", store: "ok" });

  proxy.down = true;
  await server.kill("SIGKILL");
  await expect(server.start()).rejects.toThrow(
    /error: Cannot open the store postgres:\/\/127\.0\.0\.1:\d+\/\w+: .+/,
  );
  expect(server.output).not.toContain(password);
  expect(server.output).not.toContain(decodeURIComponent(password));
});
