import { describe, expect, test, vi } from "vitest";
import type { Command } from "../../cli/app/command.ts";
import { commands, type Group, type Leaf } from "../../cli/app/command-table.ts";
import { run } from "../../cli/app/dispatch.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { leaves, type Result, svc } from "./support.ts";

describe.each(commandRuntimes("bun"))("svc on %s", (runtime) => {
  test("runs on this runtime", async () => {
    const { code, stdout } = await svc(runtime, ["--version"]);
    expect(stdout).toMatch(new RegExp(`^svc \\d+\\.\\d+\\.\\d+ \\(${runtime} \\d+\\.\\d+\\.\\d+\\)\n$`));
    expect(code).toBe(0);
  });

  test("--help prints every command on standard output", async () => {
    const { code, stdout, stderr } = await svc(runtime, ["--help"]);
    for (const name of Object.keys(commands)) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("prints the help on standard error and exits with 2 without a command", async () => {
    const { code, stdout, stderr } = await svc(runtime, []);
    expect(stderr).toContain("svc <command> [options]");
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test.each<[string[], RegExp]>([
    [["exections"], /Unknown command "exections"; did you mean `svc executions`\?/],
    [["constructor"], /Unknown command "constructor" for `svc`\./],
    [["execution", "lst"], /Unknown command "lst"; did you mean `svc executions list`\?/],
    [["webhooks", "tset"], /did you mean `svc webhook test`\?/],
    [["pushs"], /Unknown command "pushs"; did you mean `svc push`\?/],
    [["deploy"], /Unknown command "deploy"; did you mean `svc push`\?/],
    [["rollback", "dep_x"], /did you mean `svc deployments rollback`\?/],
    [["tail"], /did you mean `svc logs --follow`\?/],
    [["-v"], /Unknown option -v; did you mean `svc --version`\?/],
    [["secrets", "add", "A"], /Unknown command "add"; did you mean `svc secrets set`\?/],
    [["webhook", "create"], /did you mean `svc webhook add`\?/],
    [["keys", "rm"], /did you mean `svc keys revoke`\?/],
    [["run", "x", "--input", "{}"], /Unknown option --input for `svc run`; did you mean --data\?/],
    [["run", "x", "--env", "staging"], /did you mean --environment\?/],
    [["push", "a", "-e", "b"], /name two environments: a and b\./],
    [["executions", "show", "exe_123"], /<execution-id> must be exe_ and 26 .*, not "exe_123"\./],
    [["deployments", "show", "exe_x"], /<deployment-id> must be dep_ and 26 .*, not "exe_x"\./],
    [["push", "--yess"], /Unknown option --yess for `svc push`; did you mean --yes\?/],
    [["executions", "lst"], /Unknown command "lst"; did you mean `svc executions list`\?/],
    [["logs", "--lines", "-5"], /--lines must be a whole number from 0 to \d+, not "-5"\./],
    [["serve", "--port", "99999"], /to 65535, not "99999"\.\n.*--port 8080/],
    [["serve", "--public-url", "foo"], /--public-url must be an http or https URL/],
    [["login", "http://127.0.0.1:9/env/"], /must name an environment after \/env\/(.|\n)*\/env\/staging/],
    [["executions", "compare", "a", "b"], /did you mean `svc executions diff`\?/],
    [["executions", "exe_1"], /Unknown command "exe_1"(.|\n)*`svc executions show exe_1`/],
    [["--verison"], /Unknown option --verison for `svc`; did you mean --version\?/],
    [["webhook", "list", "--api-key-onl"], /did you mean --api-key-only\?/],
    [["webhook", "list", "--apiKeyOnly"], /Unknown option --apiKeyOnly/],
    [["push", "--dryrun"], /Unknown option --dryrun for `svc push`; did you mean --dry-run\?/],
    [["logs", "-x"], /Unknown option -x/],
    [["logs", "-fx"], /Unknown option -x/],
    [["logs", "--no-follow"], /Unknown option --no-follow/],
    [["logs", "--follow=yes"], /--follow does not take a value, but "yes" was given\./],
    [["logs", "--lines"], /--lines requires a value\./],
    [["logs", "--lines="], /--lines requires a value\./],
    [["logs", "--lines", "--follow"], /--lines requires a value\./],
    [["logs", "--lines", "10x"], /--lines must be a whole number from 0 to 10000, not "10x"\./],
    [["logs", "--lines", "10001"], /from 0 to 10000, not "10001"\./],
    [["logs", "--lines", "1", "-n", "2"], /-n may be given only once\./],
    [["logs", "--agent", "a", "--workflow", "b"], /--agent and --workflow exclude each other\./],
    [["executions", "--status", "faild"], /must be one of queued, .*, not "faild"\. Did you mean "failed"\?/],
    [["executions", "--limit", "0"], /from 1 to 1000, not "0"\./],
    [
      ["executions", "--since", "yesterday"],
      /--since must be a duration or an RFC 3339 time, not "yesterday"\./,
    ],
    [["executions", "--since", "10m", "--until", "20m"], /--until must be later than --since\./],
    [["executions", "--alerts", "--agent", "a"], /--alerts and --agent exclude each other\./],
    [["executions", "--alerts", "--trigger", "run"], /--alerts and --trigger run exclude each other\./],
    [["executions", "show", "nope"], /<execution-id> must be exe_ and 26 .*, not "nope"\./],
    [["logs", "--execution", "exe_123"], /--execution must be exe_ and 26 .*, not "exe_123"\./],
    [["executions", "show"], /<execution-id> is required/],
    [["executions", "show", ""], /<execution-id> must not be empty\./],
    [
      ["executions", "show", "a", "b"],
      /Unexpected argument "b": `svc executions show` takes <execution-id>\./,
    ],
    [["status", "now"], /Unexpected argument "now": `svc status` takes no arguments\./],
  ])("%j exits with 2", async (args, message) => {
    const { code, stdout, stderr } = await svc(runtime, args, { env: { SVC_API_KEY: "svc_a_b" } });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^error: .*\nhint: {2}.*\n$/);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

/** Runs a command in this process: its definition does not depend on the runtime or on a process of its own. */
async function svcHere(args: readonly string[]): Promise<Result> {
  const result: Result = { code: null, stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      result[stream] += text;
      return true;
    }),
  );
  try {
    result.code = await run(args);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return result;
}

describe("svc", () => {
  test.each(leaves())("%s --help prints usage and options", async (path) => {
    const { code, stdout, stderr } = await svcHere([...path.split(" "), "--help"]);
    expect(stdout).toContain(`Usage\n  svc ${path}`);
    expect(stdout).toContain("-h, --help");
    // No colors without a terminal, and no missing description.
    expect(stdout).not.toContain("\u001b");
    expect(stdout).not.toContain("undefined");
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("-v is --verbose in every command", async () => {
    const load = async (table: Readonly<Record<string, Leaf | Group>>): Promise<Command[]> =>
      (
        await Promise.all(
          Object.values(table).map(async (entry) =>
            "load" in entry ? [(await entry.load()).default] : load(entry.commands),
          ),
        )
      ).flat();
    const options = (await load(commands)).flatMap(({ args }) => Object.entries(args));
    const names = options.filter(([name, { alias }]) => name === "verbose" || alias === "v");
    expect(new Set(names.map(([name, { alias }]) => `${name} ${alias}`))).toEqual(new Set(["verbose v"]));
  });

  test.each(leaves())("%s rejects an unknown option", async (path) => {
    const { code, stdout, stderr } = await svcHere([...path.split(" "), "--no-such-option"]);
    expect(stderr).toContain(`error: Unknown option --no-such-option for \`svc ${path}\``);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});
