import { describe, expect, test, vi } from "vitest";
import { commands } from "../../cli/app/command-table.ts";
import { run } from "../../cli/app/dispatch.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { leaves, type Result, svc } from "./support.ts";

describe.each(commandRuntimes("deno"))("svc on %s", (runtime) => {
  test("runs on the runtime that the test names", async () => {
    const { code, stdout } = await svc(runtime, ["--version"]);
    expect(stdout).toMatch(new RegExp(`^svc \\d+\\.\\d+\\.\\d+ \\(${runtime} \\d+\\.\\d+\\.\\d+\\)\n$`));
    expect(code).toBe(0);
  });

  test("--help names every command, on standard output", async () => {
    const { code, stdout, stderr } = await svc(runtime, ["--help"]);
    for (const name of Object.keys(commands)) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("without a command: the help on standard error, exit 2", async () => {
    const { code, stdout, stderr } = await svc(runtime, []);
    expect(stderr).toContain("svc <command> [options]");
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test.each<[string[], RegExp]>([
    [["exections"], /Unknown command "exections"; did you mean `svc executions`\?/],
    [["constructor"], /Unknown command "constructor" for `svc`\./],
    [["executions", "lst"], /Unknown command "lst"; did you mean `svc executions list`\?/],
    [["executions", "exe_1"], /Unknown command "exe_1"(.|\n)*`svc executions show exe_1`/],
    [["--verison"], /Unknown option --verison for `svc`; did you mean --version\?/],
    [["webhook", "list", "--api-key-onl"], /did you mean --api-key-only\?/],
    [["webhook", "list", "--apiKeyOnly"], /Unknown option --apiKeyOnly/],
    [["logs", "-x"], /Unknown option -x/],
    [["logs", "-fx"], /Unknown option -x/],
    [["logs", "--no-follow"], /Unknown option --no-follow/],
    [["logs", "--follow=yes"], /--follow takes no value, but got "yes"\./],
    [["logs", "--lines"], /--lines needs a value\./],
    [["logs", "--lines="], /--lines needs a value\./],
    [["logs", "--lines", "--follow"], /--lines needs a value\./],
    [["logs", "--lines", "10x"], /--lines must be a whole number from 0 to 10000; it is "10x"\./],
    [["logs", "--lines", "10001"], /from 0 to 10000; it is "10001"\./],
    [["logs", "--lines", "1", "-n", "2"], /-n is given twice; it takes one value\./],
    [["logs", "--agent", "a", "--workflow", "b"], /--agent and --workflow exclude each other\./],
    [
      ["executions", "--status", "faild"],
      /must be one of queued, .*; it is "faild"\. Did you mean "failed"\?/,
    ],
    [["executions", "--limit", "0"], /from 1 to 1000; it is "0"\./],
    [["executions", "--since", "yesterday"], /--since must be so long ago or a time; it is "yesterday"\./],
    [["executions", "show"], /<execution-id> is missing/],
    [["executions", "show", ""], /<execution-id> must not be empty\./],
    [
      ["executions", "show", "a", "b"],
      /Unexpected argument "b": `svc executions show` takes <execution-id>\./,
    ],
    [["status", "now"], /Unexpected argument "now": `svc status` takes no argument\./],
  ])("%j is wrong usage", async (args, message) => {
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
  test.each(leaves())("%s --help shows usage and options", async (path) => {
    const { code, stdout, stderr } = await svcHere([...path.split(" "), "--help"]);
    expect(stdout).toContain(`Usage\n  svc ${path}`);
    expect(stdout).toContain("-h, --help");
    // No colours where there is no terminal, and no gap in a description.
    expect(stdout).not.toContain("\u001b");
    expect(stdout).not.toContain("undefined");
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test.each(leaves())("%s refuses an unknown option", async (path) => {
    const { code, stdout, stderr } = await svcHere([...path.split(" "), "--no-such-option"]);
    expect(stderr).toContain(`error: Unknown option --no-such-option for \`svc ${path}\``);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});
