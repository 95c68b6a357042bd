import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { command } from "./command.ts";
import { type Options, type Result, temporaryFolder, useService } from "./support.ts";

describe.each(commandRuntimes("bun"))("profiles on %s", (runtime) => {
  const service = useService(runtime);

  /** A configuration folder, and a function that runs commands with it and without SVC_API_KEY. */
  async function machine(): Promise<{
    file: string;
    run: (line: string, options?: Options) => Promise<Result>;
  }> {
    const home = await temporaryFolder();
    return {
      file: join(home, "svc/config.json"),
      run: (line, options = {}) =>
        command(runtime, line.split(" "), { ...options, env: { XDG_CONFIG_HOME: home, ...options.env } }),
    };
  }

  test("login stores a checked key in a private file, and commands use it", async () => {
    const { file, run } = await machine();
    const before = await run("status");
    expect(before.stderr).toMatch(/^error: No API key found: SVC_API_KEY is not set\.\nhint: .*svc login/);

    const login = await run(`login ${service.url}/`, { input: `${service.key}\n` });
    expect(login.stderr).toMatch(new RegExp(`^✔ Logged in to ${service.url} as `));
    expect(login).toMatchObject({ code: 0, stdout: "" });
    expect(login.stderr).not.toContain(service.key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      current: "default",
      profiles: { default: { base_url: service.url, api_key: service.key } },
    });

    const whoami = await run("whoami");
    expect(whoami.stdout).toMatch(/^organization +\S.*\norganization ID +org_\w{26}\naddress +http/);
    expect(whoami.stdout).toMatch(/API key +svc_test_…\nsource +profile default\n$/);
    const json = JSON.parse((await run("whoami --json")).stdout);
    expect(json).toMatchObject({ base_url: service.url, key: "svc_test_…", profile: "default" });
    expect((await run("doctor")).stdout).toContain("from profile default");
    const staging = await run("whoami", { env: { SVC_BASE_URL: `${service.url}/env/staging` } });
    expect(staging.stdout).toContain(`${service.url}/env/staging`);

    expect((await run("logout")).code).toBe(0);
    expect((await run("whoami")).stderr).toMatch(/^error: No API key found/);
    expect((await run("logout")).stderr).toMatch(/^error: No profile is stored\./);
  });

  test("login stores nothing when the service rejects the key, or the input is not a key", async () => {
    const { file, run } = await machine();
    const wrong = await run(`login ${service.url}`, { input: "svc_wrong_0" });
    expect(wrong.stderr).toMatch(
      /^error: Authentication failed.*\nhint: {2}Nothing was stored\. Check that the key/,
    );
    expect(wrong.stderr).toMatch(/^error: Authentication failed/);
    expect((await run(`login ${service.url}`)).stderr).toMatch(/^error: No API key was given\./);
    const spaces = await run(`login ${service.url}`, { input: "svc_a b" });
    expect(spaces).toMatchObject({ code: 2, stderr: expect.not.stringContaining("svc_a b") });
    expect((await run("login ftp://x", { input: "k" })).stderr).toMatch(/must be an http or https URL/);
    expect((await run("login --profile a/b", { input: "k" })).stderr).toMatch(/--profile must be 1 to 64/);
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  test("several profiles are listed and chosen by command, by SVC_PROFILE and by SVC_API_KEY", async () => {
    const { run } = await machine();
    const empty = await run("profiles");
    expect(empty).toMatchObject({ code: 0, stdout: "" });
    for (const name of ["first", "second"]) {
      await run(`login --profile ${name} ${service.url}`, { input: service.key });
    }
    expect((await run("profiles")).stdout).toMatch(
      /^NAME +IN USE +ADDRESS\nfirst +http\S+\nsecond +yes +http\S+\n$/,
    );
    expect((await run("profiles use first")).stderr).toMatch(/^✔ Using profile first/);
    expect((await run("whoami")).stdout).toContain("profile first");
    expect((await run("whoami", { env: { SVC_PROFILE: "second" } })).stdout).toContain("profile second");
    const env = { SVC_API_KEY: service.key, SVC_BASE_URL: service.url };
    expect((await run("whoami", { env })).stdout).toContain("SVC_API_KEY");
    const both = await run("whoami", { env: { ...env, SVC_PROFILE: "second" } });
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("exclude each other") });
    expect((await run("profiles use secnod")).stderr).toMatch(
      /no profile "secnod" \(did you mean "second"\?\)/,
    );
    const unknown = await run("whoami", { env: { SVC_PROFILE: "third" } });
    expect(unknown.stderr).toMatch(/^error: There is no profile "third"\.\nhint: .*first, second/);
  });

  test("the key of a profile is not sent to another origin", async () => {
    const { run } = await machine();
    await run(`login ${service.url}`, { input: service.key });
    const other = await run("whoami", { env: { SVC_BASE_URL: "http://127.0.0.1:9" } });
    expect(other.stderr).toMatch(/^error: No API key found for http:\/\/127\.0\.0\.1:9: /);
  });

  test("a broken configuration file is named and kept", async () => {
    const { file, run } = await machine();
    await mkdir(join(file, ".."), { recursive: true });
    for (const text of ["{", "[]", '{"current":"a","profiles":{"a":{"base_url":1}}}']) {
      await writeFile(file, text);
      const result = await run("status");
      expect(result.stderr).toMatch(/^error: Cannot read .*config\.json: it is not a configuration file/);
      await run(`login ${service.url}`, { input: service.key });
      expect(await readFile(file, "utf8")).toBe(text);
    }
  });
});
