/** A short anonymous flood: all authenticated calls are answered, and its descriptors are released. */
import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { flood } from "../../bench/flood-senders.ts";
import { call } from "../../support/rest.ts";
import { onRuntime } from "../../support/suite.ts";

onRuntime("node", "a flood", {}, (server) => {
  test.runIf(existsSync("/proc/self/fd"))(
    "neither fails authenticated calls nor keeps descriptors",
    async () => {
      const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
      await call(server, "GET", "/health");
      const before = descriptors();
      const ended = flood(server.url, AbortSignal.timeout(3_000), 0.2);
      const stop = AbortSignal.timeout(3_000);
      let calls = 0;
      for (; !stop.aborted; calls++) {
        expect((await call(server, "GET", "/api/v1/organization")).status).toBe(200);
      }
      expect(calls).toBeGreaterThan(0);
      const counts = await ended;
      expect(counts.connections).toBeGreaterThan(100);
      // The senders are gone, so that nothing holds their connections.
      await expect.poll(descriptors, { timeout: 20_000, interval: 100 }).toBeLessThanOrEqual(before + 8);
      expect((await call(server, "GET", "/health")).status).toBe(200);
    },
  );
});
