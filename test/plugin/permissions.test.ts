/** Tests the plugin in a process that, like a runner, may read little besides the plugin and ofetch. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../support/runtimes.ts";
import { commandFor, run } from "./runtimes.ts";
import { startServers, type TestServers } from "./server.ts";

const plugin: string = join(root, "plugin");
const ofetch: string[] = ["ofetch", "destr", "ufo", "node-fetch-native"].map((name) =>
  join(root, "node_modules", name),
);

let servers: TestServers;
let folder: string;

beforeAll(async () => {
  servers = await startServers();
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-plugin-permissions-")));
  const linked = join(folder, "node_modules", "svc");
  mkdirSync(linked, { recursive: true });
  const manifest = { name: "svc", type: "module", exports: { "./plugin": "./plugin/index.ts" } };
  writeFileSync(join(linked, "package.json"), JSON.stringify(manifest));
  symlinkSync(plugin, join(linked, "plugin"));
  // Deno resolves imports of the plugin from the link, Node from its target.
  mkdirSync(join(linked, "node_modules"));
  for (const path of ofetch) symlinkSync(path, join(linked, "node_modules", basename(path)));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(folder, "agent.ts"),
    `import { readFileSync } from "node:fs";
    import { RestPlugin } from "svc/plugin";
    await using api = new RestPlugin({ baseUrl: process.argv[2] ?? "", apiKey: "secret-key" });
    const { headers } = await api.get<{ headers: Record<string, string> }>("/echo");
    const tool = await api.tools[0]?.execute({ endpoint: "/echo" });
    const attempt = async (action: () => unknown): Promise<string> => {
      try {
        await action();
        return "done";
      } catch (error) {
        const { code, name } = error as { code?: string; name: string };
        return code ?? name;
      }
    };
    console.log(JSON.stringify({
      authorization: headers.authorization,
      tool,
      outside: await attempt(() => readFileSync(process.argv[3] ?? "")),
      upload: await attempt(() => api.uploadFile("/form", process.argv[3] ?? "", "f")),
      download: await attempt(() => api.downloadFile("/stream?bytes=9", process.argv[4] ?? "")),
    }));`,
  );
});

afterAll(() => {
  servers.close();
  rmSync(folder, { recursive: true });
});

test.each(["node", "deno"] as const)(
  "works on %s with permissions for the plugin and ofetch only",
  async (runtime) => {
    const readable = [folder, plugin, ...ofetch];
    const command =
      runtime === "node"
        ? [...commandFor("node"), "--permission", ...readable.map((path) => `--allow-fs-read=${path}/*`)]
        : commandFor("deno", [
            `--allow-read=${readable.join(",")}`,
            "--allow-net=127.0.0.1",
            "--node-modules-dir=manual",
          ]);
    const base = `http://127.0.0.1:${servers.mainPort}/v1`;
    const forbidden = join(root, "package.json");
    const { code, stdout, stderr } = await run(
      [...command, join(folder, "agent.ts"), base, forbidden, join(folder, "saved")],
      { cwd: folder },
    );
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      authorization: "Bearer secret-key",
      tool: { headers: { authorization: "Bearer ***" } },
      outside: runtime === "node" ? "ERR_ACCESS_DENIED" : "NotCapable",
      upload: "file",
      download: "file",
    });
  },
);
