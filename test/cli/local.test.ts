import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { differences } from "../../project/plan/json-differences.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { command } from "./command.ts";
import { newProjectFiles, projectFile, projectFolder, svc, temporaryFolder, writeFiles } from "./support.ts";

describe.each(commandRuntimes("bun"))("without a service on %s,", (runtime) => {
  test("svc test runs all samples of a new project and removes its temporary folder", async () => {
    const cwd = await temporaryFolder();
    await writeFiles(cwd, newProjectFiles("shop"));
    const scratch = await temporaryFolder();
    const env = { TMPDIR: scratch };
    const { code, stdout, stderr } = await svc(runtime, ["test"], { cwd, env });
    expect(stdout).toMatch(
      /^✔ triage {2}samples\/triage\.json, .*\n✔ triage\/github-issue .*\n✔ triage-backlog .*\n$/,
    );
    expect(stderr).toBe("\n3 runs succeeded.\n");
    expect(code).toBe(0);
    // Only the runtime's compile cache stays.
    expect((await readdir(scratch)).filter((name) => name !== "node-compile-cache")).toEqual([]);

    const json = await svc(runtime, ["test", "triage", "--json"], { cwd, env });
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: true,
      results: [
        { name: "triage", webhook: null, status: "succeeded", output: { kind: "bug" } },
        {
          name: "triage",
          webhook: "github-issue",
          status: "succeeded",
          unmapped: [],
          output: { kind: "docs" },
        },
      ],
    });
    expect(json.code).toBe(0);
  });

  test("svc test prints the output on standard output and the log on standard error, and exits with 1 when the run fails", async () => {
    const cwd = await projectFolder("one", {
      "agents/one.js":
        "export default (input, ctx) => { console.log('saw', input.sku, ctx.secrets.TOKEN, ctx.trigger); if (!input.sku) throw new RangeError('no sku'); return [input.sku]; };",
      "event.json": '{"order": {"items": [{"sku": "A1"}]}}',
    });
    const env = { SVC_SECRET_TOKEN: "t0p" };
    const mapped = await command(runtime, ["test", "one", "--webhook", "hook", "--data", "event.json"], {
      cwd,
      env,
    });
    expect(mapped).toEqual({ code: 0, stdout: '[\n  "A1"\n]\n', stderr: "one  saw A1 t0p run\n" });

    const failed = await command(runtime, ["test", "one", "--data", "event.json"], { cwd });
    expect(failed.stderr).toMatch(
      /^one {2}saw undefined undefined run\nerror: one failed: RangeError: no sku\n +at .*agents\/one\.js:1/,
    );
    expect(failed).toMatchObject({ code: 1, stdout: "" });

    await writeFiles(cwd, { "samples/one.json": "{}", "samples/other.json": "{}" });
    const all = await command(runtime, ["test"], { cwd });
    expect(all.stdout).toMatch(/^✖ one {2}samples\/one\.json, .*\n {2}RangeError: no sku\n +at /);
    expect(all.stderr).toMatch(
      /warning: samples\/other\.json matches no agent.*\n(.|\n)*1 of 1 run failed\.\n$/,
    );
    expect(all.code).toBe(1);
  });

  test("svc test enforces the timeout and reports modules that do not load", async () => {
    const cwd = await projectFolder("loop", { "agents/loop.js": "export default () => { for (;;); };" });
    await writeFiles(cwd, { "svc-project.yaml": `${projectFile("loop")}    timeout: 1\n` });
    const looped = await command(runtime, ["test", "loop", "--data", "-"], { cwd, input: "{}" });
    expect(looped.stderr).toMatch(/^error: loop failed: \w*Timeout\w*: /);
    expect(looped).toMatchObject({ code: 1, stdout: "" });
    await writeFiles(cwd, { "agents/loop.js": "import './absent.js';\nexport default () => 1;\n" });
    const broken = await command(runtime, ["test"], { cwd });
    expect(broken.stderr).toMatch(/agents\/loop\.js:1(.|\n)*absent\.js/);
    expect(broken).toMatchObject({ code: 1, stdout: "" });
  });

  test("svc test retries as the service does, without the delays, and reads .env", async () => {
    const retries = "    enable_retry: true\n    retry_policy: { max_retries: 2, initial_delay: 300 }\n";
    const file = `name: shop\nversion: "1"\nagents:\n  - name: flaky\n${retries}workflows:\n  - name: order\n${retries}`;
    const cwd = await projectFolder("shop", {
      "svc-project.yaml": file,
      "agents/flaky.js":
        "export default (input, ctx) => { if (ctx.attempt < 3) throw new Error('try ' + ctx.attempt); console.log('ran'); return ctx.secrets.TOKEN; };",
      "workflows/order.js":
        "export default async (input, ctx) => { const output = await ctx.run('flaky', {}); if (ctx.attempt === 1) throw new Error('first'); return { output, attempt: ctx.attempt }; };",
      "samples/flaky.json": "{}",
      "samples/order.json": "{}",
      ".env": "TOKEN=abc\nSVC_SECRET_EMPTY=\n",
    });
    const all = await command(runtime, ["test"], { cwd });
    expect(all.stdout).toMatch(
      /^✔ flaky .*, 3 attempts\n {2}attempt 1: Error: try 1\n {2}attempt 2: Error: try 2\n✔ order .*, 2 attempts\n {2}attempt 1: Error: first\n$/,
    );
    expect(all.code).toBe(0);
    const order = await command(runtime, ["test", "order", "--data", "{}"], {
      cwd,
      env: { SVC_SECRET_TOKEN: "xyz" },
    });
    expect(JSON.parse(order.stdout)).toEqual({ output: "xyz", attempt: 2 });
    // The retried workflow does not run the child execution again.
    expect(order.stderr.match(/^flaky {2}ran$/gm)).toHaveLength(1);
    expect(order.stderr).toContain("order  Attempt 1 failed: Error: first.");
  });

  test("svc test shows the response that an agent sets", async () => {
    const cwd = await projectFolder("one", {
      "agents/one.js":
        "export default (input, ctx) => { ctx.respond({ status: 201, body: 'done' }); return 1; };",
      "samples/one.json": "{}",
    });
    const all = await command(runtime, ["test"], { cwd });
    expect(all.stdout).toContain("\n  responds with 201, text/plain; charset=utf-8, 4 B\n");
    const single = await command(runtime, ["test", "one", "--data", "samples/one.json"], { cwd });
    expect(single).toMatchObject({ stdout: "1\n", stderr: expect.stringContaining("responds with 201") });
    const json = await command(runtime, ["test", "one", "--data", "samples/one.json", "--json"], { cwd });
    expect(JSON.parse(json.stdout).response).toEqual({
      status: 201,
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: "done",
    });
  });

  test("svc webhook test prints the input that a field mapping produces", async () => {
    const cwd = await projectFolder("mapped", { "agents/mapped.js": "export default () => 1;" });
    const run = (input: string, ...more: string[]) =>
      command(runtime, ["webhook", "test", "hook", "--data", "-", ...more], { cwd, input });
    const found = await run('{"order": {"items": [{"sku": 7}]}}');
    expect(found.stdout).toMatch(
      /^Mapping\n {2}order\.items\[0\]\.sku → sku {2}number\n\nInput\n {2}\{\n {4}"sku": 7\n/,
    );
    expect(found).toMatchObject({ code: 0, stderr: "" });
    expect((await run('{"order": {}}')).stdout).toContain("not mapped: ");
    const json = await run('{"order.items[0].sku": null, "__proto__": {"x": 1}}', "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      input: { sku: null },
      unmapped: [],
      mapping: [{ path: "order.items[0].sku", parameter: "sku", found: true, type: "null", reading: "key" }],
    });

    const file = join(cwd, "svc-project.yaml");
    const indent = " ".repeat(10);
    const more = `\n${indent}$header.x-event: event\n${indent}$path: path`;
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      text.replace("items[0].sku: sku", (key) => key + more),
    );
    await writeFile(join(cwd, "request.json"), '{"headers": {"X-Event": "opened"}}');
    const requested = await run("{}", "--request", "request.json", "--json");
    expect(JSON.parse(requested.stdout).input).toEqual({ event: "opened", path: "/agent/mapped/hook" });

    await writeFile(
      file,
      (await readFile(file, "utf8")).replace(
        "- slug: hook",
        (slug) => `${slug}
        event: $header.x-event
        events: [order.*]`,
      ),
    );
    await writeFile(join(cwd, "request.json"), '{"headers": {"X-Event": "order.paid"}}');
    const wanted = await run("{}", "--request", "request.json");
    expect(wanted.stdout).toContain("Filter\n  event: order.paid\n  starts an execution\n");
    await writeFile(join(cwd, "request.json"), '{"headers": {"X-Event": "ping"}}');
    const ping = await run("{}", "--request", "request.json");
    expect(ping.stdout).toContain("Filter\n  event: ping\n  ignored: The event ping is not in events.\n");
    const decision = JSON.parse((await run("{}", "--json")).stdout);
    expect(decision).toMatchObject({ event: null, ignored: "The request does not name its event." });

    const unknown = await command(runtime, ["webhook", "test", "hok", "--data", "-"], { cwd, input: "{}" });
    expect(unknown.stderr).toMatch(
      /^error: No webhook "hok".*did you mean "hook".*\nhint: {2}Defined webhooks: hook\.\n$/,
    );
    expect(unknown.code).toBe(1);
    const missing = await command(runtime, ["webhook", "test", "hook"], { cwd });
    expect(missing.stderr).toMatch(/^error: --data is required\./);
    expect(missing.code).toBe(2);
  });
});

describe("the differences of two JSON values", () => {
  test.each<[unknown, unknown, unknown[]]>([
    [{ a: 1 }, { a: 1 }, []],
    [1, "1", [{ path: "", a: 1, b: "1" }]],
    [
      { a: { b: [1, 2] } },
      { a: { b: [1, 3, 4] } },
      [
        { path: "a.b[1]", a: 2, b: 3 },
        { path: "a.b[2]", b: 4 },
      ],
    ],
    [{ a: null }, {}, [{ path: "a", a: null }]],
    [
      { "a.b": 1, "": 2 },
      { "a.b": 2, "": 3 },
      [
        { path: '["a.b"]', a: 1, b: 2 },
        { path: '[""]', a: 2, b: 3 },
      ],
    ],
    [{ a: [] }, { a: {} }, [{ path: "a", a: [], b: {} }]],
    [JSON.parse('{"__proto__": 1}'), {}, [{ path: "__proto__", a: 1 }]],
  ])("%j and %j", (a, b, expected) => {
    expect(differences(a, b)).toEqual(expected);
  });
});
