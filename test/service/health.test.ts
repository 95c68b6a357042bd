import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, expectError, ok } from "../support/rest.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { onS3 } from "../support/server.ts";
import type { HealthJson } from "../support/shapes.ts";
import { onEveryRuntime } from "../support/suite.ts";

// The isolation is that of the runners.
onEveryRuntime(
  "health",
  {},
  (server) => {
    test("returns the version, the organization and the state of each part", async () => {
      expect(await ok<HealthJson>(server, "GET", "/health")).toEqual({
        status: "ok",
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        runtime: expect.any(String),
        organization: expect.stringMatching(/^org_[0-9a-hjkmnp-tv-z]{26}$/),
        checks: { store: "ok", storage: "ok", executor: "ok", scheduler: "ok" },
        isolation: expect.stringMatching(
          { node: /, Node permission model$/, bun: /, no sandbox$/, deno: /, Deno permissions$/ }[
            server.runtime
          ],
        ),
        client_address: "127.0.0.1",
        proxy_ignored: false,
      });
    });

    test("requires a key for /health and none for the probes", async () => {
      expectError(await call(server, "GET", "/health", { key: null }), 401, "unauthenticated", /API key/);
      for (const probe of ["/livez", "/readyz"]) {
        expect(await ok(server, "GET", probe, { key: null })).toEqual({ status: "ok" });
      }
    });

    // About packages in the data folder. test/storage/faults.test.ts is about S3 that fails.
    test.skipIf(onS3)("is degraded while the object storage is not writable", async () => {
      const folder = join(server.dataDir, "tmp/uploads");
      rmSync(folder, { recursive: true });
      const health = await call<HealthJson>(server, "GET", "/health");
      const ready = await call(server, "GET", "/readyz", { key: null });
      const live = await call(server, "GET", "/livez", { key: null });
      mkdirSync(folder);
      expect(health.status).toBe(503);
      expect(health.json).toMatchObject({
        status: "degraded",
        checks: { store: "ok", storage: "failing", executor: "ok", scheduler: "ok" },
      });
      expect(health.text).not.toContain(server.dataDir);
      expect([ready.status, live.status]).toEqual([503, 200]);
      expect((await ok<HealthJson>(server, "GET", "/health")).status).toBe("ok");
      expect((await call(server, "GET", "/readyz", { key: null })).status).toBe(200);
    });
  },
  commandRuntimes("node"),
);
