/** Starting the server: the port, the first API key, and requests that arrive before the server is ready. */
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { type RunningServer, startServer } from "../../../server/server.ts";
import { call, expectError, ok } from "../../support/rest.ts";
import { commandRuntimes } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";

describe.each(commandRuntimes("deno"))("svc serve on %s", (runtime) => {
  test("shows the first key after a start that failed because the port was in use", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port: taken } = other.address() as AddressInfo;
    let port = taken;
    const server = new TestServer(runtime, { port: () => port });
    onTestFinished(() => server.discard(false));
    await expect(server.start()).rejects.toThrow(
      new RegExp(
        `Cannot listen on 127.0.0.1:${taken}: another process uses the port\\.\n.*Stop that process, or choose another port with --port`,
      ),
    );
    await new Promise((resolve) => other.close(resolve));
    port = 0;
    await server.start();
    expect(await ok(server, "GET", "/api/v1/organization")).toMatchObject({ name: "Default organization" });
  });

  test("stops on a signal that arrives while it starts", async () => {
    const server = new TestServer(runtime);
    onTestFinished(() => server.discard(false));
    const started = server.start().catch(() => {});
    await server.printed(/^svc .*, data in /m);
    expect(await server.kill("SIGINT")).toEqual({ code: 0, signal: null });
    await started;
  });

  test("names an address that this machine does not have", async () => {
    const server = new TestServer(runtime, { args: ["--host", "192.0.2.1"] });
    onTestFinished(() => server.discard(false));
    await expect(server.start()).rejects.toThrow(
      "Cannot listen on 192.0.2.1:0: this machine does not have the address.",
    );
  });
});

describe("startServer", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-start-"));
  const running: RunningServer[] = [];
  afterEach(async () => {
    for (const server of running.splice(0)) await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async () => {
    const server = await startServer(loadConfig({ port: 0, dataDir: folder }, {}));
    running.push(server);
    return server;
  };
  const get = (server: RunningServer, path: string) =>
    call({ url: server.url, apiKey: "" }, "GET", path, { key: null });

  test("answers 503 until it is open, and 200 to /livez", async () => {
    const server = await start();
    for (const path of ["/readyz", "/health", "/api/v1/executions", "/svc.v1.HealthService/Check", "/"]) {
      const answer = await get(server, path);
      expectError(answer, 503, "unavailable", /^The server is starting\.$/);
      expect(answer.headers.get("retry-after")).toBe("1");
    }
    expect((await get(server, "/livez")).status).toBe(200);
    await server.open(() => {});
    expect((await get(server, "/readyz")).status).toBe(200);
    expect((await get(server, "/health")).status).toBe(401);
  });

  test("creates no organization when the first key cannot be shown", async () => {
    const first = await start();
    await expect(
      first.open(() => {
        throw new Error("The output is closed.");
      }),
    ).rejects.toThrow("The output is closed.");
    expect((await get(first, "/readyz")).status).toBe(503);
    await running.pop()?.close();

    const second = await start();
    let key = "";
    await second.open((shown) => {
      key = shown;
    });
    expect((await call({ url: second.url, apiKey: key }, "GET", "/health")).status).toBe(200);
  });

  test("shows no key when the store has an organization", async () => {
    await (await start()).open(() => {});
    await running.pop()?.close();
    const shown: string[] = [];
    await (await start()).open((key) => shown.push(key));
    expect(shown).toEqual([]);
  });
});
