import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { projectFolder, svc, temporaryFolder, useService } from "./support.ts";

describe.each(commandRuntimes("bun"))("on %s", (runtime) => {
  const service = useService(runtime);

  test("svc keys: create prints the key, scopes are enforced, and a revoked key is rejected", async () => {
    const created = await service.run("keys create --name ci --scope read --expires 30d");
    expect(created.stdout).toMatch(/^svc_[0-9a-z]+_[0-9a-z]+\n$/);
    expect(created.stderr).toMatch(
      /Created API key key_\w{26} "ci", scope read, expires \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\./,
    );
    const env = { SVC_API_KEY: created.stdout.trim() };
    expect(await service.run("status", { env })).toMatchObject({ code: 0 });

    const cwd = await projectFolder("scoped", { "agents/scoped.js": "export default () => 1;\n" });
    const denied = await service.run("push --force", { cwd, env });
    expect(denied.stderr).toMatch(/\nerror: Permission denied: this key needs scope deploy.*\nhint: /);
    expect(denied).toMatchObject({ code: 1, stdout: "" });

    const list = await service.run("keys");
    expect(list.stdout).toMatch(
      /^ID +NAME +SCOPE +CREATED +LAST USED +STATE\nkey_\w+ {2}ci +read .* expires in \d+ days\n/,
    );
    expect(list.stdout + list.stderr).not.toContain(env.SVC_API_KEY);
    const id = /key_\w{26}/.exec(created.stderr)?.[0];
    expect((await service.run(`keys revoke ${id}`)).stderr).toContain(`Revoked API key ${id} "ci".`);
    const refused = await service.run("status", { env });
    expect(refused.stderr).toMatch(/^error: Authentication failed/);
    expect((await service.run("keys list")).stdout).toMatch(
      /ci +read .* revoked 0 s ago|ci +read .* revoked \d+ s ago/,
    );
    const limited = await service.json<{ keys: unknown[] }>("keys --limit 1");
    expect(limited.keys).toHaveLength(1);
    expect((await service.run("keys --limit 1")).stderr).toMatch(/^hint: {2}There are more entries/);
    expect(await service.json("keys create --name second")).toMatchObject({
      key: { scope: "full" },
      token: expect.stringMatching(/^svc_/),
    });
  });

  test("svc keys revoke requires confirmation for the API key in use", async () => {
    const data = ["--data", service.dataDir];
    const made = await svc(runtime, ["admin", "organizations", "create", "Revoked", "--json", ...data]);
    const { key, token } = JSON.parse(made.stdout) as { key: { key_id: string }; token: string };
    const env = { SVC_API_KEY: token };
    const revoke = `keys revoke ${key.key_id}`;
    const last = await service.run(revoke, { env });
    expect(last.stderr).toMatch(/^warning: .*API key in use.*last valid key with scope full.*\n(.|\n)*--yes/);
    expect(last).toMatchObject({ code: 2, stdout: "" });
    const second = await service.json<{ token: string }>("keys create --name second", { env });
    const unconfirmed = await service.run(revoke, { env });
    expect(unconfirmed.stderr).toMatch(/^warning: .*API key in use\.\nerror: /);
    expect(unconfirmed.code).toBe(2);
    expect((await service.run("status", { env })).code).toBe(0);
    expect((await service.run(`${revoke} --force`, { env })).code).toBe(0);
    expect((await service.run("status", { env })).code).toBe(1);
    expect((await service.run("status", { env: { SVC_API_KEY: second.token } })).code).toBe(0);
  });

  test.each<[string, RegExp]>([
    ["keys create", /--name is required\./],
    ["keys create --name x --scope all", /--scope must be one of read, trigger, deploy, full/],
    [
      "keys create --name x --expires 2020-01-01",
      /--expires must be a duration or an RFC 3339 time in the future/,
    ],
    ["keys create --name x --expires soon", /--expires must be a duration or an RFC 3339 time in the future/],
    ["keys revoke", /<key-id> is required/],
    ["secrets set", /<name> is required/],
    ["secrets set A value", /Unexpected argument "value"/],
  ])("svc %s exits with 2", async (line, message) => {
    const { code, stdout, stderr } = await service.run(line);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  test("svc secrets: set reads the value from standard input, and no command prints it", async () => {
    const cwd = await projectFolder("secretive", {
      "agents/secretive.js": "export default (_, ctx) => ctx.secrets.TOKEN.length;\n",
    });
    await service.run("push --force", { cwd });
    expect(await service.run("secrets set TOKEN", { input: "hunter2\n" })).toMatchObject({
      code: 0,
      stdout: "",
    });
    expect((await service.run("run secretive")).stdout).toBe("7\n");
    const list = await service.run("secrets");
    expect(list.stdout).toMatch(/^NAME +ENVIRONMENT +CREATED +UPDATED\nTOKEN +all +\d+ s ago +\d+ s ago\n$/);
    const empty = await service.run("secrets set TOKEN", { input: "\n" });
    expect(empty.stderr).toMatch(/^error: The value is empty\./);
    expect(empty.code).toBe(2);
    const binary = await service.run("secrets set TOKEN", { input: new Uint8Array([255, 254]) });
    expect(binary.stderr).toMatch(/^error: The value is not UTF-8\./);
    expect((await service.run("secrets remove TOKEN")).stderr).toContain("Removed TOKEN.");
    expect((await service.run("secrets remove TOKEN")).code).toBe(1);
    expect(await service.json("secrets")).toMatchObject({ secrets: [] });
  });

  test("svc admin creates organizations and keys while the service runs", async () => {
    const data = ["--data", service.dataDir];
    const made = await svc(runtime, ["admin", "organizations", "create", "ACME & Sons", ...data]);
    expect(made.stdout).toMatch(/^svc_\S+\n$/);
    const env = { SVC_API_KEY: made.stdout.trim() };
    if (runtime !== "bun") {
      expect((await service.run("status", { env })).stdout).toMatch(/organization +ACME & Sons \(org_/);
    }
    const list = await svc(runtime, ["admin", "organizations", "--json", ...data]);
    const { organizations } = JSON.parse(list.stdout) as { organizations: { name: string }[] };
    const names = organizations.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["ACME & Sons", "Default organization"]));
    const id = /org_\w{26}/.exec(made.stderr)?.[0] ?? "";
    const key = await svc(runtime, [
      "admin",
      "keys",
      "create",
      "--organization",
      id,
      "--scope",
      "read",
      ...data,
    ]);
    expect(key.stdout).toMatch(/^svc_\S+\n$/);
    const audit = await service.run("logs --audit", { env });
    expect(audit.stdout).toMatch(/key\.created: key 'admin' \(\w+\), scope read, by the operator\n/);
    const unknown = await svc(runtime, ["admin", "keys", "create", "--organization", "org_x", ...data]);
    expect(unknown.stderr).toMatch(/^error: There is no organization 'org_x'\./);
    const empty = await svc(runtime, ["admin", "organizations", "--data", await temporaryFolder()]);
    expect(empty.stderr).toMatch(/^error: Cannot open the store/);
    expect([unknown.code, empty.code]).toEqual([1, 1]);
  });

  test("svc logs --audit prints the audit log", async () => {
    const cwd = await projectFolder("audited", { "agents/audited.js": "export default () => 1;\n" });
    await service.run("push --force", { cwd });
    const { stdout } = await service.run("logs --audit --json");
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(new Set(lines.map(({ source }) => source))).toEqual(new Set(["audit"]));
    expect(stdout).toContain("audited");
  });

  test("svc doctor reports every check under a stable ID", async () => {
    const cwd = await projectFolder("ill", { "agents/ill.js": "export default () => 1;\n" });
    const statuses = async (options: {
      cwd: string;
      env?: Record<string, string>;
    }): Promise<[number | null, object]> => {
      const { code, stdout, stderr } = await service.run("doctor --json", options);
      expect(stderr).toBe("");
      const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: { id: string; status: string }[] };
      expect(ok).toBe(code === 0);
      return [code, Object.fromEntries(checks.map(({ id, status }) => [id, status]))];
    };
    const well = {
      runtime: "ok",
      "api-key": "ok",
      service: "ok",
      authentication: "ok",
      health: "ok",
      isolation: "ok",
      clock: "ok",
      address: "ok",
      "project-file": "ok",
      webhooks: "ok",
      schedules: "ok",
      secrets: "ok",
    };
    expect(await statuses({ cwd })).toEqual([1, { ...well, webhooks: "failed", secrets: "skipped" }]);
    await service.run("push --force", { cwd });
    expect(await statuses({ cwd })).toEqual([0, well]);
    const notDeployed = { webhooks: "skipped", schedules: "skipped", secrets: "skipped" };
    const outside = { ...well, "project-file": "skipped", ...notDeployed };
    expect(await statuses({ cwd: await temporaryFolder() })).toEqual([0, outside]);

    const unasked = {
      health: "skipped",
      isolation: "skipped",
      clock: "skipped",
      address: "skipped",
      ...notDeployed,
    };
    const refused = { ...well, ...unasked, authentication: "failed" };
    expect(await statuses({ cwd, env: { SVC_API_KEY: "svc_a_b" } })).toEqual([1, refused]);
    const unreached = { ...well, ...unasked, service: "failed", authentication: "skipped" };
    expect(await statuses({ cwd, env: { SVC_BASE_URL: "http://127.0.0.1:9" } })).toEqual([1, unreached]);
    await writeFile(join(cwd, "svc-project.yaml"), "name: [");
    const broken = { ...well, "project-file": "failed", ...notDeployed };
    expect(await statuses({ cwd })).toEqual([1, broken]);

    const text = await service.run("doctor", { cwd });
    expect(text.stdout).toMatch(
      /^✔ runtime .*\n(.|\n)*✖ project-file {4}svc-project\.yaml has 1 problem\n {18}Run `svc push/,
    );
  });
});
