import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { newFolder, useService, writeFiles } from "./support.ts";

const agents = {
  echo: "export default (input) => { console.log('one\\ntwo'); console.error('bad'); return input; };",
  fails: "export default () => { throw new TypeError('no\\u001b[31m way'); };",
  flaky:
    "export default (input, ctx) => { if (ctx.attempt < 2) throw new Error('first'); return ctx.attempt; };",
  slow: "export default (_, { signal }) => { console.log('begun'); return new Promise((_, reject) => signal.addEventListener('abort', reject)); };",
  ticks:
    "export default async ({ gate }) => { for (let i = 0; i < 10; i++) { if (i === 5) await fetch(gate); console.log('tick ' + i); } };",
};

describe.each(commandRuntimes("bun"))("on %s", (runtime) => {
  const service = useService(runtime);
  let folder: string;
  beforeAll(async () => {
    const names = Object.keys(agents).map((name) =>
      name === "flaky"
        ? `  - name: ${name}\n    enable_retry: true\n    retry_policy: { initial_delay: 0.1, strategy: fixed }\n`
        : `  - name: ${name}\n`,
    );
    folder = await newFolder();
    await writeFiles(folder, {
      "svc-project.yaml": `name: runs\nversion: "1"\nagents:\n${names.join("")}`,
      ...Object.fromEntries(Object.entries(agents).map(([name, code]) => [`agents/${name}.js`, code])),
    });
    expect(await service.run("push --force", { cwd: folder })).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test("svc run prints only the output on standard output, and the log on standard error", async () => {
    const input = '{"a": [1, null, "ü\u0085"], "__proto__x": {}}';
    const { code, stdout, stderr } = await service.run("run echo --data -", { input });
    expect(JSON.parse(stdout)).toEqual(JSON.parse(input));
    // Control characters are escaped.
    expect(stdout).toContain("\\u0085");
    expect(stderr).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}echo {2}one\n +two\n.* {2}echo {2}error {2}bad\n$/);
    expect(code).toBe(0);
    expect((await service.run("run echo")).stdout).toBe("{}\n");
  });

  test("svc run names the similar target, or the kind that the target has", async () => {
    const near = await service.run("run ecko");
    expect(near.stderr).toMatch(
      /^error: There is no .*'ecko' in production\.\nhint: {2}Did you mean "echo"\?\n$/,
    );
    const kind = await service.run("run echo --kind workflow");
    expect(kind.stderr).toMatch(/\nhint: {2}"echo" is an agent: pass --kind agent, or leave out --kind\.\n$/);
  });

  test("svc run takes every input within the limit for JSON, whose message is several times as long", async () => {
    const input = JSON.stringify({ n: Array.from({ length: 250_000 }, () => 1) });
    const { code, stderr } = await service.run("run echo --detach --data -", { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const long = await service.run("run echo --data -", { input: JSON.stringify({ n: "x".repeat(7e6) }) });
    expect(long.stderr).toMatch(/^error: The message has more than 6291456 bytes\.\n/);
  });

  test("svc run --json prints the whole execution, --detach only its ID", async () => {
    const { stdout, code } = await service.run("run echo --json --kind agent");
    expect(JSON.parse(stdout)).toMatchObject({
      status: "succeeded",
      kind: "agent",
      name: "echo",
      trigger: "run",
    });
    expect(code).toBe(0);
    const detached = await service.run("run echo --detach");
    expect(detached.stdout).toMatch(/^exe_[0-9a-z]{26}\n$/);
    expect(detached).toMatchObject({ code: 0, stderr: "" });
  });

  test("svc run exits with 1 and prints the error of a failed execution", async () => {
    const { code, stdout, stderr } = await service.run("run fails");
    expect(stderr).toMatch(
      /^error: fails failed: TypeError: no way\nhint: {2}Run `svc executions show exe_/m,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const id = /exe_[0-9a-z]{26}/.exec(stderr)?.[0];
    const shown = await service.run(`executions show ${id}`);
    expect(shown.stdout).toMatch(
      /status +failed\n(.|\n)*Error\n {2}TypeError: no way\n +at .*agents\/fails\.js:1/,
    );
    const json = await service.run("run fails --json");
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "failed", error: { name: "TypeError" } });
    expect(json.code).toBe(1);
  });

  test("svc run reports a failed attempt and its retry", async () => {
    const { code, stdout, stderr } = await service.run("run flaky");
    expect(stderr).toMatch(
      / {2}flaky {2}warn {2}Attempt 1 failed: Error: first\. The next attempt is due in/,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "2\n" });
  });

  test("svc executions show and list: the duration covers all attempts and the delay between them", async () => {
    const { execution_id } = JSON.parse((await service.run("run flaky --json")).stdout);
    const shown = await service.run(`executions show ${execution_id}`);
    // The policy delays the retry by 100 ms. A single attempt takes a few milliseconds.
    const took = / took +((?:[1-9]\d\d ms|\d+\.\d s))/.exec(shown.stdout.replaceAll("\n", " "))?.[1];
    expect(took, shown.stdout).toBeDefined();
    const listed = await service.run("executions list --limit 1");
    expect(listed.stdout).toContain(` ${took}`);
    expect(listed.stdout).not.toContain("ENVIRONMENT");
    expect((await service.run("executions --grep no-such-text")).stderr).toMatch(
      /No executions found\.\nhint: {2}Remove a filter\./,
    );
  });

  test("svc executions: the service's message about a filter names the option", async () => {
    expect(await service.run(["executions", "--page-token", "wrong"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: Cannot use --page-token: .*\nhint: {2}Fix the option/),
    });
  });

  test("svc run detaches on Ctrl-C with a message and exit code 130, and the execution continues", async () => {
    const { code, stdout, stderr } = await service.run("run slow", {
      onOutput({ stderr }, kill) {
        if (stderr.includes("begun")) kill("SIGINT");
      },
    });
    expect(stderr).toMatch(/\nDetached\. The execution continues\.\nhint: {2}Run `svc executions show exe_/);
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
    const id = /exe_[0-9a-z]{26}/.exec(stderr)?.[0];
    expect(await service.json(`executions show ${id}`)).toMatchObject({ status: "running" });
    // Otherwise the service waits for it when it shuts down.
    await service.run(`executions cancel ${id}`);
  });

  test("svc run names the execution when it cannot follow it any longer", async () => {
    const { key, token } = await service.json<{ key: { key_id: string }; token: string }>(
      "keys create --name brief",
    );
    let revoked: Promise<unknown> | undefined;
    const { code, stderr } = await service.run("run slow", {
      env: { SVC_API_KEY: token },
      onOutput(all) {
        if (all.stderr.includes("begun")) revoked ??= service.run(`keys revoke ${key.key_id}`);
      },
    });
    await revoked;
    const id = /svc executions show (exe_\w+)/.exec(stderr)?.[1];
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /\nerror: Authentication failed: .*\n.*may continue.*`svc executions show exe_\w+`.*\nhint: /,
      ),
    });
    expect((await service.run(`executions cancel ${id}`)).code).toBe(0);
  });

  test("svc logs --follow exits with 130 on Ctrl-C", async () => {
    const following = service.run("logs --follow --lines 0 --agent echo", {
      onOutput({ stdout }, kill) {
        if (stdout.includes("bad")) kill("SIGINT");
      },
    });
    // The command does not report when it starts to follow, so the agent runs until the entry arrives.
    let isOver = false;
    void following.then(() => {
      isOver = true;
    });
    while (!isOver) await service.run("run echo");
    const { code, stdout } = await following;
    // It may start between two entries of a run.
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}echo {2}(error {2})?(one|bad)\n/);
    expect(code).toBe(130);
  });

  test("svc logs --follow and svc run continue after a crash of the service without lost or duplicate entries", async () => {
    let crash: Promise<void> | undefined;
    // The execution stays in front of its gate until the crash, and passes it when it runs again.
    const gate = createServer((_, response) => void (crash !== undefined && response.end()));
    await once(gate.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void gate.close());
    const url = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
    const following = service.run("logs --follow --agent ticks --json", {
      onOutput({ stdout }, kill) {
        if (stdout.includes("tick 3")) crash ??= service.crash();
        if (stdout.includes("tick 9")) kill("SIGINT");
      },
    });
    const ran = await service.run("run ticks --data -", { input: JSON.stringify({ gate: url }) });
    const { code, stdout, stderr } = await following;
    await crash;
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: "null\n" });
    for (const said of [ran.stderr, stderr]) expect(said).toMatch(/reconnecting(.|\n)*Reconnected/);
    expect(code).toBe(130);
    const shown = stdout.trimEnd().split("\n");
    const logged = (await service.run("logs --agent ticks --json")).stdout.trimEnd().split("\n");
    // The cursor depends on the reader.
    const lines = (all: string[]) => all.map((line) => ({ ...JSON.parse(line), cursor: "" }));
    expect(lines(shown)).toEqual(lines(logged.slice(0, shown.length)));
    // The restarted service runs the execution again. `svc run` prints the same log as `svc logs`.
    expect(logged.filter((line) => line.includes("tick 0"))).toHaveLength(2);
    expect(logged.filter((line) => line.includes("tick 9"))).toHaveLength(1);
    const followed = ran.stderr.split("\n").filter((line) => !/^(Lost|Reconnected)/.test(line));
    expect(followed).toEqual((await service.run("logs --agent ticks")).stdout.split("\n"));
  });
});
