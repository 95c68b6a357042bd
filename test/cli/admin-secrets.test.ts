import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ok } from "../support/rest.ts";
import { TestServer } from "../support/server.ts";
import { svc } from "./support.ts";

test("svc admin secrets reset allows a start after the master key was lost", async () => {
  const server = new TestServer("node");
  onTestFinished(() => server.discard(false));
  await server.start();
  await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "hush" } });
  const reset = (...options: string[]) =>
    svc("node", ["admin", "secrets", "reset", "--data", server.dataDir, ...options]);

  const running = await reset("--force");
  expect(running.stderr).toMatch(/^error: Cannot use the data folder .*: another server uses it\./);
  expect(running.code).toBe(1);
  await server.kill("SIGTERM");
  rmSync(join(server.dataDir, "master.key"));
  await expect(server.start()).rejects.toThrow(
    /error: Cannot open the secrets: the master key is missing.*\nhint: .*`svc admin secrets reset`/,
  );

  expect((await reset()).code).toBe(2);
  const { organizations } = JSON.parse(
    (await svc("node", ["admin", "organizations", "--json", "--data", server.dataDir])).stdout,
  ) as { organizations: { org_id: string }[] };
  const done = await reset("--force", "--json");
  expect(JSON.parse(done.stdout)).toEqual({ secrets: [{ org_id: organizations[0]?.org_id, name: "TOKEN" }] });

  await server.start();
  expect(await ok(server, "GET", "/api/v1/secrets")).toMatchObject({ secrets: [] });
  await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "hush" } });
  await server.restart();
});
