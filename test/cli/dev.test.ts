import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { DevProcess } from "./dev-process.ts";
import { projectFile, projectFolder, svc, svcOnTerminal, temporaryFolder, writeFiles } from "./support.ts";

const fails = (text: string): string =>
  `export default () => {\n  console.log("before");\n  throw new RangeError("${text}");\n};\n`;
const returns = (value: string): string =>
  `export default (input, ctx) => {\n  console.log("got", input.sku);\n  ctx.log.warn("low stock", { left: 2 });\n  return { value: ${value}, token: ctx.secrets.TOKEN?.length, environment: ctx.environment };\n};\n`;

describe.each(commandRuntimes("node"))("svc dev on %s", (runtime) => {
  test("deploys on each change, prints executions, and serves the commands in its folder", async () => {
    const cwd = await projectFolder("shop", {
      "agents/shop.js": returns("1"),
      // Bun takes the file for the environment of the command too, where the key would replace that of `svc dev`.
      ".env": `TOKEN=hidden-value\n${runtime === "bun" ? "" : "SVC_API_KEY=not-a-secret\n"}`,
    });
    const file = join(cwd, "agents/shop.js");
    const dev = new DevProcess(runtime, cwd, ["--port", "0"], { SVC_BASE_URL: "http://127.0.0.1:9" });
    const [, address = ""] = await dev.printed(/^address +(http:\/\/127\.0\.0\.1:\d+\/env\/development)$/m);
    await dev.printed(/^secrets +TOKEN\n\nwarning: SVC_BASE_URL is set\. .*unset SVC_BASE_URL\n\nWebhooks$/m);
    const [, webhook = ""] = await dev.printed(/shop\/hook\n +(http\S+\/webhook\/org_\S+\/hook)\n/);
    await dev.printed(/svc {3}deployed {3}shop 1\.0 in /);
    const trigger = async (): Promise<unknown> => {
      const body = '{"order": {"items": [{"sku": "A1"}]}}';
      const headers = { "Content-Type": "application/json", Prefer: "wait=30" };
      return (await fetch(webhook, { method: "POST", headers, body })).json();
    };
    expect(await trigger()).toMatchObject({ output: { value: 1, token: 12, environment: "development" } });
    await dev.printed(
      /shop {2}log {8}got A1\n.* shop {2}warn {7}low stock {2}left=2\n.* shop {2}succeeded {2}[\d.]+ m?s {2}\{"value":1,/,
    );

    // Another terminal, in a sub-folder and without a key.
    const agents = join(cwd, "agents");
    const run = await svc(runtime, ["run", "shop"], { cwd: agents });
    expect(JSON.parse(run.stdout)).toMatchObject({ value: 1 });
    expect((await svc(runtime, ["whoami"], { cwd: agents })).stdout).toMatch(
      new RegExp(`address +${address}\n.*\nsource +.svc dev. of this project\n`),
    );
    expect(statSync(join(cwd, ".svc/dev/connection.json")).mode & 0o777).toBe(0o600);
    const again = await svc(runtime, ["dev"], { cwd });
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("already runs for this project"),
    });

    // Explicit settings take precedence.
    const home = await temporaryFolder();
    const profile = { base_url: "http://127.0.0.1:9", api_key: "svc_other_0" };
    await writeFiles(home, {
      "svc/config.json": JSON.stringify({ current: "other", profiles: { other: profile } }),
    });
    const other = { cwd, env: { XDG_CONFIG_HOME: home } };
    expect((await svc(runtime, ["status"], other)).stderr).toContain("http://127.0.0.1:9");
    const chosen = await svc(runtime, ["whoami"], { cwd, env: { ...other.env, SVC_PROFILE: "dev" } });
    expect(chosen.stdout).toContain(address);
    const elsewhere = await svc(runtime, ["status"], { cwd, env: { SVC_BASE_URL: "http://127.0.0.1:9" } });
    expect(elsewhere.stderr).toMatch(/^error: No API key found for http:\/\/127\.0\.0\.1:9:/);

    // A broken project keeps the last deployment.
    await writeFile(file, "export default (\n");
    await dev.printed(/svc {3}error {6}(.|\n)*agents\/shop\.js:\d+(.|\n)*The last deployment stays active\./);
    expect(await trigger()).toMatchObject({ output: { value: 1 } });
    await writeFile(join(cwd, "svc-project.yaml"), `${projectFile("shop")}    timeot: 1\n`);
    await dev.printed(/svc-project\.yaml:9:5: .*timeout/);
    await writeFile(join(cwd, "svc-project.yaml"), projectFile("shop"));
    await writeFile(file, fails("no stock"));
    await dev.printed(/svc {3}deployed /);
    await trigger();
    await dev.printed(
      /shop {2}failed {5}[\d.]+ m?s {2}RangeError: no stock\n +agents\/shop\.js:3:\d+\n +3 \| throw new RangeError\("no stock"\);\n +\^\n +svc executions show exe_/,
    );

    // Secrets are read again. Renaming the project and adding folders needs nothing else.
    await writeFile(join(cwd, ".env"), "TOKEN=another-hidden-value\n");
    await dev.printed(/svc {3}secrets {4}TOKEN\n/);
    await mkdir(join(agents, "lib/deep"), { recursive: true });
    await writeFile(join(agents, "lib/deep/value.js"), "export default 2;\n");
    await writeFile(file, `import value from "./lib/deep/value.js";\n${returns("value")}`);
    await dev.printed(/svc {3}deployed {3}shop /);
    await writeFile(join(cwd, "svc-project.yaml"), projectFile("shop").replace("name: shop", "name: store"));
    await dev.printed(/svc {3}deployed {3}store /);
    expect(await trigger()).toMatchObject({ output: { value: 2, token: 20 } });

    expect(await dev.stop("SIGINT")).toBe(0);
    expect(dev.output).not.toContain("hidden-value");
    expect(dev.output).not.toMatch(/svc_\w+_\w{16}/);
    expect(existsSync(join(cwd, ".svc/dev/connection.json"))).toBe(false);
    expect((await svc(runtime, ["status"], { cwd })).stderr).toMatch(/^error: No API key found/);
  });

  test("reads keys on a terminal", async () => {
    const cwd = await projectFolder("keys", { "agents/keys.js": "export default () => 1;\n" });
    const { code, screen } = await svcOnTerminal(runtime, ["dev", "--port", "0", "--fresh"], {
      cwd,
      env: { BROWSER: "no-such-browser" },
      columns: 80,
      script: [
        { when: "deployed", types: "h" },
        { when: "deploy again", types: "r" },
        { when: "deployed", types: "o" },
        { when: "Cannot open a browser", types: "q" },
      ],
    });
    expect(stripVTControlCharacters(screen).replaceAll("\r", "")).toMatch(
      /Press h for help, q to quit\.(.|\n)*stopping/,
    );
    expect(code).toBe(0);
  });
});

describe.each(commandRuntimes("node").length === 1 ? (["bun", "deno"] as const) : [])(
  "svc dev --json on %s",
  (runtime) => {
    test("deploys on each change and removes a fresh store", async () => {
      const temporary = await temporaryFolder();
      const cwd = await projectFolder("one", { "agents/one.js": "export default () => 1;\n" });
      const file = join(cwd, "agents/one.js");
      const dev = new DevProcess(runtime, cwd, ["--json", "--fresh", "--port", "0"], { TMPDIR: temporary });
      const [, address = ""] = await dev.printed(/"event":"started".*"base_url":"(\S+?)"/);
      const [, url = ""] = await dev.printed(/"event":"deployed".*"url":"(http\S+?)"/);
      expect(url.startsWith(`${address}/webhook/`)).toBe(true);
      expect(readdirSync(temporary).filter((name) => name.startsWith("svc-dev-"))).toHaveLength(1);

      // Editors replace a file by a new one. Later changes of it are found too.
      await writeFile(`${file}.tmp`, "export default () => { throw new Error('two'); };\n");
      renameSync(`${file}.tmp`, file);
      await dev.printed(/"event":"deployed"/);
      await writeFile(file, "export default () => 'three';\n");
      await dev.printed(/"event":"deployed"/);
      const sent = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: "{}",
      });
      expect(sent.status).toBe(202);
      const [line] = await dev.printed(/^.*"event":"execution".*"status":"succeeded".*$/m);
      expect(JSON.parse(line)).toMatchObject({ execution: { name: "one", output: "three" } });
      for (const text of dev.output.trim().split("\n")) JSON.parse(text);

      expect(await dev.stop("SIGTERM")).toBe(0);
      expect(readdirSync(temporary).filter((name) => name.startsWith("svc-"))).toEqual([]);
    });
  },
);
