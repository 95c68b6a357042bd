import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Case, failure } from "../context.ts";

export const timeoutCases: Case[] = [
  {
    name: "times out without a response, during a body, a download and an upload",
    async run({ plugin, folder }) {
      for (const egressGuard of [false, true]) {
        const api = plugin({ timeout: 0.2, egressGuard });
        const file = join(folder, "up.bin");
        writeFileSync(file, new Uint8Array(30_000_000));
        const actions = [
          () => api.get("/silent"),
          () => api.get("/stalled"),
          () => api.post("/silent", { a: 1 }),
          () => api.downloadFile("/stalled", join(folder, "down.bin")),
          () => api.uploadFile("/silent", file, "file"),
        ];
        for (const action of actions) {
          const begun = performance.now();
          const error = await failure("timeout", action);
          const tookMs = performance.now() - begun;
          assert.match(error.message, /timed out after 0\.2 seconds$/);
          assert.ok(tookMs >= 195 && tookMs < 5000, `${tookMs}`);
        }
        assert.equal(existsSync(join(folder, "down.bin")), false);
        assert.deepEqual(readdirSync(folder), ["up.bin"]);
      }
    },
  },
  {
    name: "uses the timeout of the call, longer or shorter",
    async run({ plugin }) {
      const short = plugin({ timeout: 0.05 });
      await failure("timeout", () => short.get("/silent"));
      await short.get("/stream?bytes=1000000", { timeout: 20 });
      const long = plugin({ timeout: 20 });
      await failure("timeout", () => long.get("/silent", { timeout: 0.05 }));
      await failure("invalid_argument", () => long.get("/silent", { timeout: 0 }));
    },
  },
  {
    name: "includes retries in the timeout",
    async run({ plugin, log }) {
      const api = plugin({ timeout: 0.5, retry: { attempts: 20, delay: 0.05, maxDelay: 0.1 } });
      const begun = performance.now();
      await failure("timeout", () => api.get("/silent"));
      assert.ok(performance.now() - begun < 5000);
      assert.equal((await log()).requests.length, 1);
      // Fails by the timeout, or by a retry delay that would exceed it.
      await assert.rejects(api.get("/reply?status=503", { timeout: 0.3 }), { name: "RestError" });
      assert.ok((await log()).requests.length > 2);
    },
  },
  {
    name: "aborts a call by the caller's signal, before it starts and while it runs",
    async run({ plugin, log }) {
      const api = plugin();
      await failure("aborted", () => api.get("/echo", { signal: AbortSignal.abort() }));
      assert.equal((await log()).requests.length, 0);
      for (const path of ["/silent", "/stalled"]) {
        const get = (signal: AbortSignal): Promise<unknown> => api.get(path, { signal });
        const tool = async (signal: AbortSignal): Promise<unknown> =>
          api.tools[0]?.execute({ endpoint: path }, { signal });
        for (const call of [get, tool]) {
          const before = (await log()).requests.length;
          const controller = new AbortController();
          const ended = call(controller.signal).then(
            () => assert.fail("the call succeeded"),
            (error: unknown) => error,
          );
          while ((await log()).requests.length === before) {}
          controller.abort(new Error("enough"));
          const error = await failure("aborted", async () => Promise.reject(await ended));
          assert.match(error.message, /was aborted by its signal/);
        }
      }
    },
  },
];
