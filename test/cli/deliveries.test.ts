import { describe, expect, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { projectFile, projectFolder, useService, writeFiles } from "./support.ts";

interface Deliveries {
  deliveries: { delivery_id: string; outcome: string; execution_id: string }[];
}

describe.each(commandRuntimes("bun"))("on %s", (runtime) => {
  const service = useService(runtime);

  /** Deploys an agent that returns its input, and sends bodies to its webhook in order. */
  const deployed = async (name: string, bodies: readonly string[]): Promise<string> => {
    const cwd = await projectFolder(name, { [`agents/${name}.js`]: "export default (input) => input;\n" });
    const pushed = await service.run("push --force", { cwd });
    const url = /\/hook {2}(http\S+)/.exec(pushed.stdout)?.[1] ?? "";
    for (const body of bodies) {
      const headers = { "Content-Type": "application/json", Prefer: "wait=20" };
      await (await fetch(url, { method: "POST", headers, body })).text();
    }
    return cwd;
  };
  const good = '{"order": {"items": [{"sku": "A1"}]}, "note": "first"}';

  test("svc webhook deliveries lists accepted and rejected deliveries, delivery prints one", async () => {
    await deployed("listed", [good, "{"]);
    const all = await service.run("webhook deliveries hook --agent listed");
    expect(all.stdout).toMatch(
      /^ID +WEBHOOK +OUTCOME +AT RECEIPT .*\ndlv_\w+ {2}listed\/hook {2}rejected {2}400 .*JSON.*\ndlv_\w+ {2}listed\/hook {2}accepted {2}202 .* exe_\w+\n$/,
    );
    const { deliveries } = await service.json<Deliveries>(
      "webhook deliveries --agent listed --outcome accepted",
    );
    expect(deliveries).toHaveLength(1);
    const shown = await service.run(`webhook delivery ${deliveries[0]?.delivery_id}`);
    expect(shown.stdout).toMatch(
      /outcome +accepted \(HTTP 202 at receipt\)\n(.|\n)*Headers\n(.|\n)*prefer: wait=20(.|\n)*Payload\n(.|\n)*"A1"/,
    );
    const none = await service.run("webhook deliveries nowhere");
    expect(none).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("No deliveries found."),
    });
  });

  test("svc webhook redeliver runs one delivery again, or all that match, oldest first", async () => {
    const cwd = await deployed("again", [good, "{", good.replace("A1", "A2")]);
    const { deliveries } = await service.json<Deliveries>("webhook deliveries --agent again");
    const one = await service.run(`webhook redeliver ${deliveries[2]?.delivery_id}`);
    expect(one.stdout).toMatch(/^exe_\w{26}\n$/);

    const unasked = await service.run("webhook redeliver --agent again --outcome accepted");
    expect(unasked.stderr).toMatch(
      /again\/hook +accepted(.|\n)*error: This command requires confirmation(.|\n)*--yes/,
    );
    expect(unasked).toMatchObject({ code: 2, stdout: "" });

    await writeFiles(cwd, { "svc-project.yaml": projectFile("again").replace(": sku", ": article") });
    await service.run("push --force", { cwd });
    const corrected = await service.run("webhook redeliver --agent again --force --current --json");
    const result: { deliveries: { delivery_id: string; execution_id?: string; error?: string }[] } =
      JSON.parse(corrected.stdout);
    // The payload of a body that is not JSON is not kept.
    const kept = deliveries.filter(({ outcome }) => outcome !== "rejected");
    expect(result.deliveries.map(({ delivery_id }) => delivery_id)).toEqual(
      expect.arrayContaining(kept.map(({ delivery_id }) => delivery_id)),
    );
    expect(result.deliveries.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(corrected.stderr).toContain("1 rejected request without a payload left out");
    expect(corrected.code).toBe(0);
    const [first] = result.deliveries;
    expect(await service.json(`executions show ${first?.execution_id}`)).toMatchObject({
      input: { article: "A1" },
    });

    for (const line of ["webhook redeliver", "webhook redeliver dlv_x --slug hook"]) {
      expect(await service.run(line)).toMatchObject({ code: 2, stdout: "" });
    }
    expect(await service.run("webhook redeliver --slug nowhere --yes")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/^No deliveries found\.\nhint: /),
    });
  });

  test("svc webhook redeliver leaves unverified and ignored requests out, unless they are named", async () => {
    const cwd = await projectFolder("strict", { "agents/strict.js": "export default (input) => input;\n" });
    const options =
      "        signature: { scheme: token, secret: STRICT, header: x-token }\n        keep_rejected: true\n" +
      "        event: type\n        events: [wanted]\n";
    await writeFiles(cwd, { "svc-project.yaml": projectFile("strict", options) });
    await service.run("secrets set STRICT", { input: "open-sesame" });
    const pushed = await service.run("push --force", { cwd });
    const url = /\/hook {2}(http\S+)/.exec(pushed.stdout)?.[1] ?? "";
    const send = async (type: string, token: string) => {
      const headers = { "Content-Type": "application/json", "X-Token": token };
      await (await fetch(url, { method: "POST", headers, body: JSON.stringify({ type }) })).text();
    };
    await send("wanted", "open-sesame");
    await send("other", "open-sesame");
    await send("forged", "wrong");
    const { deliveries } = await service.json<Deliveries>("webhook deliveries --agent strict");
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(["rejected", "ignored", "accepted"]);
    const all = await service.run("webhook redeliver --agent strict -y");
    expect(all.stdout).toMatch(/^exe_\w{26}\n$/);
    expect(all.stderr).toContain(
      "1 request with an invalid signature left out: redeliver by id, if the webhook keeps",
    );
    const ignored = await service.run("webhook redeliver --agent strict --outcome ignored --force");
    expect(ignored.stdout).toMatch(/^exe_\w{26}\n$/);
    const one = await service.run(`webhook redeliver ${deliveries[0]?.delivery_id}`);
    expect(one.stdout).toMatch(/^exe_\w{26}\n$/);
    expect(one.stderr).toMatch(/The signature of dlv_\w{26} was invalid: you vouch for its payload\./);
  });

  test("svc executions: show prints the mapping trace; replay, diff and cancel", async () => {
    await deployed("traced", [good, '{"order": {"items": []}}']);
    const { executions } = await service.json<{ executions: { execution_id: string }[] }>(
      "executions --agent traced",
    );
    const [empty, full] = executions.map(({ execution_id }) => execution_id);
    expect((await service.run(`executions show ${full}`)).stdout).toMatch(
      /Mapping\n {2}order\.items\[0\]\.sku → sku {2}string\n/,
    );
    expect((await service.run(`executions show ${empty}`)).stdout).toMatch(/sku {2}not mapped: \S+/);

    const differ = await service.run(`executions diff ${empty} ${full}`);
    expect(differ).toMatchObject({
      code: 1,
      stdout: 'input.sku\n  + "A1"\noutput.sku\n  + "A1"\n',
      stderr: "",
    });
    const same = await service.run(`executions diff ${full} ${full} --json`);
    expect(same).toMatchObject({ code: 0, stdout: '{\n  "differences": []\n}\n' });

    const replayed = await service.run(`executions replay ${full}`);
    expect(replayed).toMatchObject({ code: 0, stdout: '{\n  "sku": "A1"\n}\n' });
    const other = await service.run(`executions replay ${full} --data - --json`, { input: '{"sku": "B2"}' });
    expect(JSON.parse(other.stdout)).toMatchObject({
      trigger: "replay",
      replay_of: full,
      output: { sku: "B2" },
    });
    expect((await service.run(`executions replay ${full} --detach`)).stdout).toMatch(/^exe_\w{26}\n$/);
    expect((await service.run(`executions cancel ${full}`)).stderr).toContain(
      "has already ended with status succeeded.",
    );
  });

  test("svc executions cancel stops a running execution, and svc run reports the cancellation", async () => {
    const cwd = await projectFolder("endless", {
      "agents/endless.js":
        "export default (_, ctx) => { console.log('id ' + ctx.executionId); return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('told to stop')))); };\n",
    });
    await service.run("push --force", { cwd });
    let cancelled: Promise<unknown> | undefined;
    const ran = await service.run("run endless", {
      onOutput({ stderr }) {
        const id = /id (exe_\w{26})/.exec(stderr)?.[1];
        if (id !== undefined) cancelled ??= service.run(`executions cancel ${id}`);
      },
    });
    expect(ran.stderr).toMatch(/\nerror: endless was cancelled\.\nhint: /);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(await cancelled).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/^✔ (Cancelled|Requested)/),
    });
  });

  test("svc deployments promote deploys the same package to another environment", async () => {
    const cwd = await projectFolder("risen", { "agents/risen.js": "export default () => 1;\n" });
    const staged = await service.json<{ deployment_id: string; digest: string }>("push staging --force", {
      cwd,
    });
    const unasked = await service.run(`deployments promote ${staged.deployment_id}`);
    expect(unasked.stderr).toMatch(
      /^Promote risen 1\.0 from staging to production:\n {2}\+ agent {5}risen\n(.|\n)*--yes/,
    );
    expect(unasked).toMatchObject({ code: 2, stdout: "" });
    const promoted = await service.json<{ deployment_id: string }>(
      `deployments promote ${staged.deployment_id} --force`,
    );
    expect(promoted).toMatchObject({
      environment: "production",
      status: "active",
      digest: staged.digest,
      source_deployment_id: staged.deployment_id,
    });
    const fresh = await service.run(`deployments promote ${staged.deployment_id} fresh --force`);
    expect(fresh.stderr).toMatch(
      /^warning: The environment fresh is new\. Others: production, staging\.\nPromote /,
    );
    const shown = await service.run(`deployments show ${promoted.deployment_id}`);
    expect(shown.stdout).toMatch(new RegExp(`promoted from +${staged.deployment_id}`));
    expect(shown.stdout).toContain("  promoted ");
    expect((await service.run("logs --audit")).stdout).toContain(`, from ${staged.deployment_id} in staging`);
    expect((await service.run("run risen")).stdout).toBe("1\n");
    const again = await service.run(`deployments promote ${staged.deployment_id} --force`);
    expect(again.stderr).toMatch(
      /^error: The package of dep_\w+ is already active in production, as dep_\w+\./,
    );
    expect(again.code).toBe(1);
  });

  test("svc schedules show, pause and resume", async () => {
    const cwd = await projectFolder("daily", { "agents/daily.js": "export default () => 1;\n" });
    const schedule =
      "schedules:\n  agents:\n    daily:\n      cron: 30 7 * * *\n      timezone: Asia/Kolkata\n";
    await writeFiles(cwd, { "svc-project.yaml": projectFile("daily", schedule) });
    const pushed = await service.run("push --force", { cwd });
    expect(pushed.stdout).toMatch(
      /Schedules\n {2}daily {2}30 7 \* \* \* Asia\/Kolkata, next run in \d+ \w+\n/,
    );
    const shown = await service.run("schedules show daily");
    expect(shown.stdout).toMatch(
      /state +active\n(.|\n)*Next runs\n.*\n {2}\d{4}-\d\d-\d\d 07:30:00 {2}\d{4}/,
    );
    expect(await service.json("schedules show daily")).toMatchObject({
      next_runs: expect.any(Array),
      paused: false,
    });
    expect((await service.run("schedules pause daily")).stderr).toBe("✔ daily is paused.\n");
    expect((await service.run("schedules")).stdout).toMatch(/daily +30 7 \* \* \* +Asia\/Kolkata +paused/);
    await service.run("push --force --redeploy", { cwd });
    expect(await service.json("schedules show daily")).toMatchObject({ paused: true });
    expect((await service.run("schedules resume daily")).stderr).toMatch(
      /^✔ daily is active; next run at \d{4}-/,
    );
    expect((await service.run("schedules show missing")).code).toBe(1);
  });
});
