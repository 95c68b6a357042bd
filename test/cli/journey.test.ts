import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandRuntimes, runtimes } from "../support/runtimes.ts";
import { svc, temporaryFolder, useService } from "./support.ts";

interface Executions {
  executions: { execution_id: string; trigger: string }[];
}

describe.each(runtimes)("svc on %s, from an empty service to a webhook execution:", (runtime) => {
  // A process for each command, as for a user.
  const service = useService(runtime, svc);
  /** Messages, and how results are printed, do not depend on the runtime. */
  const isWhole = commandRuntimes("bun").includes(runtime);
  const testMessages = test.runIf(isWhole);

  testMessages("an empty list exits with 0 and prints a hint", async () => {
    const none = await service.run("webhook list");
    expect(none.stdout).toBe("Organization: Default organization\n");
    expect(none.stderr).toMatch(
      /^No webhook URLs found in production\.\nhint: {2}Add `webhooks` .* `svc push`\.\n$/,
    );
    expect(none.code).toBe(0);
    expect(await service.json("webhook list")).toMatchObject({ agents: [], workflows: [] });
    for (const [line, message] of [
      ["executions", "No executions found.\nhint:  Run `svc run"],
      ["deployments", "No deployments found.\nhint:  Run `svc push`"],
      ["schedules", "No schedules found in production.\nhint:  Add `schedules`"],
      ["secrets", "No secrets found.\nhint:  Run `svc secrets set"],
      ["webhook deliveries", "No deliveries found.\nhint:  Run `svc webhook list`"],
      ["logs", "No log entries found."],
    ] as const) {
      const { code, stdout, stderr } = await service.run(line);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(stderr).toContain(message);
    }
    expect((await service.run("status")).stdout).toMatch(
      /service +http\S+ {2}ok\n(.|\n)*Active deployments\n {2}none; run svc push/,
    );
  });

  testMessages("a rejected key is reported", async () => {
    for (const path of ["webhook list", "status", "logs"]) {
      const env = { ...service.env, SVC_API_KEY: `${service.key}x` };
      const { code, stdout, stderr } = await svc(runtime, path.split(" "), { env });
      expect(stderr).toMatch(
        /^error: Authentication failed.*\nhint: {2}Check SVC_API_KEY or renew the key\..*\n$/,
      );
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    }
  });

  test("init, push, webhook, run, and the commands that print their results", async () => {
    const cwd = await temporaryFolder();
    const { run, json } = service;
    await run("init . --template workflow", { cwd });

    const pushed = await run("push --force", { cwd });
    expect(pushed.code).toBe(0);
    const id = /^deployment ID {2}(dep_[0-9a-z]{26})$/m.exec(pushed.stdout)?.[1];
    expect(await json("deployments")).toMatchObject({
      deployments: [{ deployment_id: id, status: "active" }],
    });
    const url = /triage\/github-issue +(http\S+)/.exec(pushed.stdout)?.[1] ?? "";
    expect(url).toMatch(new RegExp(`^${service.url}/webhook/org_[0-9a-z]{26}/agent/triage/github-issue$`));

    const list = await run("webhook list");
    expect(list).toMatchObject({ code: 0, stderr: "" });
    expect(list.stdout).toMatch(
      /^Organization: Default organization\n\nAgent webhooks\n {2}triage\n {4}github-issue {2}http/,
    );
    expect(list.stdout).toMatch(/\n\nWorkflow webhooks\n {2}triage-backlog\n {4}backlog {2}http\S+\n$/);
    expect(list.stdout).toContain(`github-issue  ${url}\n`);
    const verbose = await run("webhook list --verbose --api-key-only");
    expect(verbose.stdout).toMatch(/issue\.labels\[0\]\.name +→ label\n/);
    expect(verbose.stderr).toContain(`${service.url}/svc.v1.WebhookService/ListWebhooks 200`);
    expect(await json("webhook list")).toMatchObject({
      organization: { name: "Default organization" },
      agents: [{ name: "triage", webhooks: [{ slug: "github-issue", url }] }],
      workflows: [{ name: "triage-backlog", webhooks: [{ slug: "backlog", field_mapping: {} }] }],
    });

    const ran = await run("run triage --data samples/triage.json", { cwd });
    expect(JSON.parse(ran.stdout)).toMatchObject({ triaged: true, kind: "bug", priority: "high" });
    expect(ran.stderr).toMatch(/triage {2}"Crash when the config file is empty" by octocat: bug, high\n$/);
    expect(ran.code).toBe(0);
    const many = await run("run triage-backlog --data samples/triage-backlog.json", { cwd });
    expect(JSON.parse(many.stdout)).toMatchObject({ count: 3, issues: [{ title: "Login is down" }, {}, {}] });

    const answer = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Prefer: "wait=20" },
      body: await readFile(join(cwd, "samples/triage.github-issue.json")),
    });
    expect(answer.status).toBe(200);
    if (!isWhole) return;

    const { executions } = await json<Executions>("executions --agent triage");
    expect(executions.map(({ trigger }) => trigger)).toEqual(["webhook", "child", "child", "child", "run"]);
    const hook = executions[0]?.execution_id ?? "";
    const shown = await run(`executions show ${hook}`);
    expect(shown.stdout).toMatch(/status +succeeded\nagent +triage\ntrigger +webhook\n/);
    expect(shown.stdout).toMatch(
      /Input\n(.|\n)*"title": "Document the --json flag"(.|\n)*Output\n(.|\n)*"kind": "docs"/,
    );
    expect(await json(`executions show ${hook}`)).toMatchObject({
      status: "succeeded",
      attempt: 1,
      trigger: "webhook",
    });
    const table = await run("executions --workflow triage-backlog --limit 1");
    expect(table.stdout).toMatch(
      /^ID +STATUS +NAME +CREATED +TRIGGER +TOOK\nexe_\w+ {2}succeeded {2}triage-backlog .* run .*\n$/,
    );
    expect((await run("executions --limit 2")).stderr).toMatch(
      /^hint: {2}There are more entries\. Raise --limit/,
    );
    expect(await json("executions --status failed")).toMatchObject({ executions: [] });
    expect(await json("executions --since 1h --limit 1")).toMatchObject({
      executions: [{ execution_id: hook }],
    });
    expect(await json("executions --since 2100-01-01")).toMatchObject({ executions: [] });

    const logs = await run(`logs --execution ${hook}`);
    expect(logs.stdout).toMatch(/triage \w{6} {2}"Document the --json flag" by hubot: docs, low\n/);
    const lines = (await run("logs --lines 2 --json")).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: "info" }, { level: "info" }]);
    expect(await json("schedules")).toMatchObject({ schedules: [{ name: "triage", cron: "0 9 * * 1-5" }] });
    expect((await service.run("schedules pause triag")).stderr).toMatch(
      /^error: There is no schedule .*\nhint: {2}Did you mean "triage"\?\n$/,
    );
    expect((await run("schedules")).stdout).toMatch(
      /^NAME +CRON +TIME ZONE .*\ntriage +0 9 \* \* 1-5 +UTC +\d{4}-/,
    );
    const status = await run("status --verbose");
    expect(status.stdout).toMatch(/Checks\n {2}store +ok(.|\n)*1 agent, 1 workflow, 2 webhooks, 1 schedule/);
    expect(await json("status")).toMatchObject({
      health: { status: "ok" },
      deployments: [{ deployment_id: id }],
    });
  });

  testMessages("unknown IDs and names are reported", async () => {
    const missing = "01m7w909sgcc9pvmxgtd4ms8yc";
    for (const [line, advice] of [
      [`executions show exe_${missing}`, "Check the name or ID"],
      [`deployments show dep_${missing}`, "Check the name or ID"],
      ["run missing", "Known names in production: triage, triage-backlog."],
    ] as const) {
      const { code, stdout, stderr } = await service.run(line);
      expect(stderr).toMatch(/^error: .*\nhint: {2}.*\n$/);
      expect(stderr).toContain(`\nhint:  ${advice}`);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    }
  });
});
