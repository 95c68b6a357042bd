import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { addEntry } from "../../cli/project/add-entry.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { newProjectFiles, svc, temporaryFolder, writeFiles } from "./support.ts";

describe.each(commandRuntimes("bun"))("svc create on %s", (runtime) => {
  test("adds an agent and a workflow that run without changes, without prompting", async () => {
    const cwd = await temporaryFolder();
    await writeFiles(cwd, newProjectFiles("shop"));
    for (const line of ["create agent greet", "create workflow greet-all"]) {
      const { code, stdout, stderr } = await svc(runtime, line.split(" "), { cwd });
      expect(stderr).toMatch(/Created (agents|workflows)\/greet.*\.ts and added it to svc-project\.yaml\./);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    }
    const file = await readFile(join(cwd, "svc-project.yaml"), "utf8");
    expect(file).toContain("repository.full_name: repository\n  - name: greet\n\nworkflows:");
    expect(file).toContain("      - slug: backlog\n  - name: greet-all\n\nschedules:");
    const ran = await svc(runtime, ["test", "greet", "--data", "-"], { cwd, input: '{"name": "Ada"}' });
    expect(ran).toMatchObject({ code: 0, stdout: '{\n  "greeting": "Hello, Ada!"\n}\n' });
  });

  test("rejects existing and invalid names without writing a file", async () => {
    const cwd = await temporaryFolder();
    await writeFiles(cwd, { ...newProjectFiles("shop"), "agents/there.ts": "mine" });
    const before = await readFile(join(cwd, "svc-project.yaml"), "utf8");
    for (const [line, message, code] of [
      ["create agent triage-backlog", /The workflow "triage-backlog" already exists/, 1],
      ["create agent there", /Cannot write agents\/there\.ts: the file already exists\./, 1],
      ["create workflow ../x", /"\.\.\/x" is not a valid workflow name/, 2],
      ["create", /svc create <command>/, 2],
      ["create agnet x", /did you mean `svc create agent`/, 2],
    ] as const) {
      const result = await svc(runtime, line.split(" "), { cwd });
      expect(result.stderr).toMatch(message);
      expect(result).toMatchObject({ code, stdout: "" });
    }
    expect(await readFile(join(cwd, "svc-project.yaml"), "utf8")).toBe(before);
    expect(await readFile(join(cwd, "agents/there.ts"), "utf8")).toBe("mine");
    expect(await readdir(join(cwd, "workflows"))).toEqual(["triage-backlog.ts"]);
  });

  test("reports a missing or invalid project", async () => {
    const cwd = await temporaryFolder();
    const none = await svc(runtime, ["create", "agent", "x"], { cwd });
    expect(none.stderr).toMatch(/^error: There is no svc-project\.yaml in this folder or a parent folder\./);
    expect(none.code).toBe(1);
    await writeFile(join(cwd, "svc-project.yaml"), "name: [");
    const broken = await svc(runtime, ["create", "agent", "x"], { cwd });
    expect(broken.stderr).toMatch(/^error: Invalid configuration in svc-project\.yaml/);
    expect(broken.code).toBe(1);
  });
});

describe("adding an entry to a project file", () => {
  const start = 'name: x # comment\nversion: "1"\n';
  const tail = "schedules: {}\n";
  const lists: Record<string, string> = {
    "no list": "",
    "an empty list": "agents: []\n",
    "a list without a value": "agents:\n",
    "a list with only a comment": "agents:\n  # none yet\n",
    "an indented list": "agents:\n  - name: a\n    timeout: 5\n",
    "a list without indentation": "agents:\n- name: a\n- name: b # last\n",
    "a list with deep indentation": "agents:\n      - name: a\n        webhooks:\n        - slug: s\n\n\n",
    "entries in flow style": "agents:\n  - { name: a }\n  - { name: b }\n",
    "a block scalar at its end": "agents:\n  - name: a\n    display_name: |\n      One\n      two\n",
    "a comment after it": "agents:\n  - name: a\n  # the end of the agents\n",
  };
  for (const [what, list] of Object.entries(lists)) {
    for (const more of ["", tail]) {
      for (const [how, shape] of [
        ["unchanged", (text: string) => text],
        ["with CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
        ["without a trailing line break", (text: string) => text.replace(/\n+$/, "")],
      ] as const) {
        test(`${what}, ${more === "" ? "at the end" : "in the middle"}, ${how}`, () => {
          const before = shape(start + list + more);
          const after = addEntry(before, "agents", "new");
          expect(after).not.toBeNull();
          const old = parse(before);
          expect(parse(after ?? "")).toEqual({ ...old, agents: [...(old.agents ?? []), { name: "new" }] });
          if (list === "agents: []\n") return;
          // Every line is kept in its order; only the new lines are added.
          const lines = (after ?? "").split(/\r?\n/);
          const added = lines.filter((line) => /- name: new$/.test(line));
          expect(added).toHaveLength(1);
          const rest = lines.filter(
            (line) => !/- name: new$/.test(line) && (list !== "" || line !== "agents:"),
          );
          expect(rest.filter((line) => line !== "")).toEqual(
            before.split(/\r?\n/).filter((line) => line !== ""),
          );
        });
      }
    }
  }

  test.each(["agents: [{ name: a }]\n", "agents: *x\n", "agents: text\n", "- a\n", "a: [\n"])(
    "does not change %j",
    (text) => {
      expect(addEntry(text, "agents", "new")).toBeNull();
    },
  );
});
