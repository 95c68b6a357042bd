/** Tests the plugin without ofetch, without Node builtins, and with a proxy in the environment. */
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { root, runtimes } from "../support/runtimes.ts";
import { commandFor, run } from "./runtimes.ts";
import { startServers, type TestServers } from "./server.ts";

const plugin: string = join(root, "plugin");

let servers: TestServers;
let site: string;
let folder: string;

beforeAll(async () => {
  servers = await startServers();
  site = `http://127.0.0.1:${servers.mainPort}/v1`;
});
afterAll(() => servers.close());
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-plugin-environment-")));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each(runtimes)("throws not_installed with the install command on %s without ofetch", async (runtime) => {
  cpSync(plugin, join(folder, "plugin"), { recursive: true });
  writeFileSync(
    join(folder, "main.ts"),
    `import { RestPlugin } from "./plugin/index.ts";
    const api = new RestPlugin({ baseUrl: process.argv[2] ?? "", apiKey: "k" });
    for (const call of [() => api.get("/echo"), () => api.tools[0]?.execute({ endpoint: "/echo" })]) {
      await Promise.resolve(call()).catch(({ code, message }) => console.log(code, message));
    }`,
  );
  const command = commandFor(runtime);
  if (runtime === "bun") command.push("--no-install");
  const { stdout } = await run([...command, join(folder, "main.ts"), site], { cwd: folder });
  const lines = stdout
    .trim()
    .split("\n")
    .filter((line) => line.startsWith("not_installed"));
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toMatch(
      /^not_installed ofetch is not installed: run "npm install ofetch", "bun add ofetch" or/,
    );
  }
});

test("works in a browser bundle without Node builtins, except files and guarded requests", async () => {
  writeFileSync(join(folder, "entry.ts"), `export * from ${JSON.stringify(join(plugin, "index.ts"))};`);
  const bundle = join(folder, "bundle.js");
  const built = await run(
    [...commandFor("bun"), "build", "--target=browser", join(folder, "entry.ts"), `--outfile=${bundle}`],
    { cwd: plugin },
  );
  expect(built).toMatchObject({ code: 0 });
  writeFileSync(
    join(folder, "main.js"),
    `const { argv, stdout } = process;
    globalThis.process = undefined;
    const { RestPlugin } = await import("./bundle.js");
    const [, , site] = argv;
    const api = new RestPlugin({ baseUrl: site, apiKey: "k", maxResponseBytes: 100_000 });
    const open = new RestPlugin({ baseUrl: site, egressGuard: false });
    const code = (action) => Promise.resolve().then(action).then(() => "done", (error) => error.code);
    const tool = ({ tools }, endpoint) => tools[0].execute({ endpoint });
    stdout.write(JSON.stringify({
      get: (await api.get("/echo")).headers.authorization,
      post: (await api.post("/echo", { a: 1 })).body,
      tool: (await tool(open, "/hops?left=2")).url,
      missing: await code(() => api.get("/reply?status=404")),
      large: await code(() => api.get("/packed?bytes=5000000&json=1")),
      timeout: await code(() => api.get("/silent", { timeout: 0.1 })),
      upload: await code(() => api.uploadFile("/form", "/etc/hosts", "f")),
      download: await code(() => api.downloadFile("/stream?bytes=1", "/tmp/x")),
      guarded: await code(() => tool(api, "/echo")),
    }));`,
  );
  const { stdout, stderr } = await run([...commandFor("node"), join(folder, "main.js"), site]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    get: "Bearer k",
    post: '{"a":1}',
    tool: "/v1/hops?left=0",
    missing: "http",
    large: "response_too_large",
    timeout: "timeout",
    upload: "unsupported",
    download: "unsupported",
    guarded: "unsupported",
  });
});

test.each(runtimes)("guarded requests bypass the proxy of the environment on %s", async (runtime) => {
  const proxied: string[] = [];
  const proxy = createServer((request, response) => {
    proxied.push(request.url ?? "");
    response.writeHead(502).end();
  });
  proxy.on("connect", (request, socket) => {
    proxied.push(request.url ?? "");
    socket.destroy();
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  writeFileSync(
    join(folder, "main.ts"),
    `import { RestPlugin } from ${JSON.stringify(join(plugin, "index.ts"))};
    const resolve = async () => ["127.0.0.2"];
    const api = new RestPlugin({
      baseUrl: process.argv[2] ?? "",
      egressGuard: { code: true, resolve, allowAddresses: ["127.0.0.2"] },
    });
    await api.get("/echo");
    await api.post("/echo", {});
    await api.tools[0]?.execute({ endpoint: "/echo" });
    await api.close();
    console.log("done");`,
  );
  const { stdout, stderr } = await run(
    [
      ...commandFor(runtime, ["-A", "--node-modules-dir=manual"]),
      join(folder, "main.ts"),
      site.replace("127.0.0.1", "api.test"),
    ],
    {
      env: {
        NODE_USE_ENV_PROXY: "1",
        DENO_NO_UPDATE_CHECK: "1",
        HTTP_PROXY: address,
        http_proxy: address,
        HTTPS_PROXY: address,
      },
    },
  );
  proxy.close();
  expect({ stdout, stderr }).toEqual({ stdout: "done\n", stderr: "" });
  expect(proxied).toEqual([]);
});
