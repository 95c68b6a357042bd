import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { addWebhook } from "../../cli/project/add-webhook.ts";
import { senders } from "../../cli/senders/index.ts";
import { parseProjectFile } from "../../project/file/parse.ts";
import fc from "../support/property.ts";
import { commandRuntimes, root } from "../support/runtimes.ts";
import { command } from "./command.ts";
import { newProjectFiles, temporaryFolder, writeFiles } from "./support.ts";

const file = "svc-project.yaml";

describe.each(commandRuntimes("bun"))("svc webhook add on %s", (runtime) => {
  const add = (cwd: string, line: string) =>
    command(runtime, ["webhook", "add", ...line.split(" ")], { cwd });

  test("writes the webhook and a sample that work at once, and keeps the rest of the file", async () => {
    const cwd = await temporaryFolder();
    await writeFiles(cwd, newProjectFiles("shop"));
    const before = await readFile(join(cwd, file), "utf8");
    const added = await add(cwd, "github --target triage --slug hub");
    expect(added).toMatchObject({ code: 0, stdout: "" });
    for (const text of [
      'Added the webhook "hub" of the agent triage to svc-project.yaml.',
      "Created samples/triage.hub.json.",
      "svc secrets set GITHUB_SECRET",
      "Paste the URL as Payload URL",
      join(root, "docs/webhooks/senders/github.md"),
    ]) {
      expect(added.stderr).toContain(text);
    }
    const after = await readFile(join(cwd, file), "utf8");
    const lines = after.split("\n");
    const start = lines.indexOf("      - slug: hub");
    expect(start).toBeGreaterThan(0);
    const length = lines.length - before.split("\n").length;
    expect([...lines.slice(0, start), ...lines.slice(start + length)].join("\n")).toBe(before);
    const [, test = ""] = /\n {2}svc (webhook test .*)\n/.exec(added.stderr) ?? [];
    const tried = await command(runtime, [...test.split(" "), "--json"], { cwd });
    expect(JSON.parse(tried.stdout)).toMatchObject({ unmapped: [], event: "issues.opened", ignored: null });
    const ran = await command(runtime, ["test", "triage", "--json"], { cwd });
    expect(JSON.parse(ran.stdout).results).toContainEqual(
      expect.objectContaining({ webhook: "hub", status: "succeeded", unmapped: [] }),
    );
  });

  test("overwrites nothing", async () => {
    const cwd = await temporaryFolder();
    await writeFiles(cwd, { ...newProjectFiles("shop"), "samples/triage.stripe.json": "mine" });
    expect((await add(cwd, "stripe --target triage --json")).code).toBe(0);
    const before = await readFile(join(cwd, file), "utf8");
    for (const [line, message, code] of [
      ["stripe --target triage", /The agent triage already has a webhook "stripe"/, 1],
      ["strpe", /No sender "strpe" \(did you mean "stripe"\?\)/, 1],
      ["stripe", /several agents and workflows/, 2],
      ["stripe --target triag", /No agent or workflow "triag" .*did you mean "triage"/, 1],
      ["stripe --target triage --slug a/b", /"a\/b" is not a valid slug/, 2],
      ["--target triage", /--target and --slug require a sender/, 2],
    ] as const) {
      const result = await add(cwd, line);
      expect(result.stderr).toMatch(message);
      expect(result).toMatchObject({ code, stdout: "" });
    }
    expect(await readFile(join(cwd, file), "utf8")).toBe(before);
    expect(await readFile(join(cwd, "samples/triage.stripe.json"), "utf8")).toBe("mine");
  });

  test("prints one document with --json, and lists the senders without one", async () => {
    const cwd = await temporaryFolder();
    const list = await command(runtime, ["webhook", "add", "--json"], { cwd });
    expect(JSON.parse(list.stdout).senders).toEqual(
      senders.map(({ name, title, description }) => ({
        sender: name,
        title,
        description,
        docs: join(root, "docs/webhooks/senders", `${name}.md`),
      })),
    );
    const table = await command(runtime, ["webhook", "add"], { cwd });
    expect(table.stdout.split("\n").length).toBe(senders.length + 2);
    expect(table.stdout).toMatch(/^stripe {2,}Stripe {2,}Payments, subscriptions and invoices$/m);
    await writeFile(join(cwd, file), 'name: a\nversion: "1"\nagents: [{ name: a }]\n');
    await writeFiles(cwd, { "agents/a.ts": "export default () => 1;" });
    const flow = await add(cwd, "typeform");
    expect(flow.code).toBe(1);
    expect(flow.stderr).toMatch(
      /not written in block style.*- slug: typeform\n.*Add these lines to `webhooks` of a/s,
    );
    await writeFile(join(cwd, file), 'name: a\nversion: "1"\nagents:\n  - name: a\n');
    const added = await add(cwd, "typeform --json");
    expect(added.stderr).toBe("");
    expect(JSON.parse(added.stdout)).toMatchObject({
      sender: "typeform",
      target: { kind: "agent", name: "a" },
      slug: "typeform",
      files: [file, "samples/a.typeform.json"],
      secrets: { TYPEFORM_SECRET: expect.any(String) },
      docs: join(root, "docs/webhooks/senders/typeform.md"),
    });
    expect(await readdir(join(cwd, "samples"))).toEqual(["a.typeform.json"]);
  });
});

describe("adding a webhook to a project file", () => {
  const head = 'name: x # comment\nversion: "1"\n\n';
  const tail = "\n# Schedules\nschedules: {}\n";
  const files = new Set(["agents/a.ts", "agents/b.ts"]);
  const webhook = {
    slug: "new",
    event: "type",
    events: ["a", "b.*"],
    field_mapping: { "a[0].b": { parameter: "c", default: "" } },
  };

  test.each([
    ["a target without keys", "agents:\n  - name: a\n  - name: b\n"],
    [
      "a target with keys and comments",
      "agents:\n  - name: a # one\n    # timeout\n    timeout: 5 # s\n\n  - name: b\n",
    ],
    ["a last target without webhooks", "agents:\n  - name: b\n  - name: a\n    timeout: 5\n"],
    [
      "webhooks",
      "agents:\n  - name: a\n    webhooks:\n      # first\n      - slug: one # 1\n      # last\n    timeout: 5\n",
    ],
    [
      "webhooks that are not indented",
      "agents:\n- name: a\n  webhooks:\n  - slug: one\n    raw: true\n- name: b\n",
    ],
    [
      "webhooks with a mapping in flow style",
      "agents:\n  - name: a\n    webhooks:\n      - { slug: one, raw: true }\n",
    ],
    ["an empty list", "agents:\n  - name: a\n    webhooks: []\n    timeout: 5\n"],
    ["no list", "agents:\n  - name: a\n    webhooks: # none\n    timeout: 5\n"],
    ["a block text at the end", "agents:\n  - name: a\n    display_name: >-\n      Two\n      words\n"],
    ["wide indentation", "agents:\n    -   name: a\n        webhooks:\n            -   slug: one\n"],
  ])("keeps the text around %s", (_title, agents) => {
    for (const text of [
      head + agents + tail,
      head + agents,
      (head + agents + tail).replaceAll("\n", "\r\n"),
    ]) {
      const after = addWebhook(text, "agent", "a", webhook) ?? "";
      const added = parse(after).agents.find((each: { name: string }) => each.name === "a").webhooks;
      expect(added.at(-1)).toEqual(webhook);
      expect(parseProjectFile(Buffer.from(after), { files }).problems).toEqual([]);
      const kept = text
        .replace(/webhooks: \[\]/, "webhooks:")
        .split(/\r?\n/)
        .filter((line) => line !== "");
      const lines = new Set(after.split(/\r?\n/));
      expect(kept.filter((line) => !lines.has(line))).toEqual([]);
      expect(after.includes("\r\n")).toBe(text.includes("\r\n"));
      if (text.includes("\r\n")) expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    }
  });

  test("adds to arbitrary files the webhook and nothing else, or does not change them", () => {
    const line = fc.constantFrom(
      ...[
        "agents:",
        "workflows:",
        "  - name: a",
        "- name: a",
        "    webhooks:",
        "  webhooks:",
        "      - slug: b",
      ],
      ...[
        "    - slug: c",
        "      raw: true",
        "    timeout: 5 # s",
        "# comment",
        "",
        "    display_name: |",
        "      text",
      ],
      ...[
        "      - &x { slug: d }",
        "      - *x",
        "    webhooks: []",
        "    webhooks: [{ slug: e }]",
        "---",
        "\t",
        "? a",
      ],
    );
    let changed = 0;
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n"), (lines, eol) => {
        const text = ["agents:", "  - name: a", ...lines].join(eol);
        const after = addWebhook(text, "agent", "a", webhook);
        // An alias without its anchor is a problem that the project file reports before.
        if (after === null || /\*x/.test(text)) return;
        const [before, result] = [parse(text), parse(after)];
        const target = before.agents.find((each: { name?: string } | null) => each?.name === "a");
        target.webhooks = [...(target.webhooks ?? []), webhook];
        expect(result).toEqual(before);
        changed++;
      }),
      { numRuns: 2_000 },
    );
    expect(changed).toBeGreaterThan(50);
  });

  test.each([
    "agents: [{ name: a }]\n",
    "agents:\n  - { name: a }\n",
    "agents:\n  - name: a\n    webhooks: [{ slug: b }]\n",
    "agents: {}\n",
    "",
    "agents: [",
  ])("does not change %j", (agents) => {
    expect(addWebhook(head + agents, "agent", "a", webhook)).toBeNull();
  });
});
