/** Control characters of any source never reach standard output or standard error, on a terminal and elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandRuntimes, root } from "../support/runtimes.ts";
import { projectFolder, type Result, svcOnTerminal, useService } from "./support.ts";

/** CSI (color, screen, cursor), OSC 8 and a title, C1 controls, bidirectional overrides, DEL, CR, BEL, BS and a lone ESC. */
const hostile =
  "a\u001b[35mb\u001b[2Jc\u001b[3;4Hd\u001b]8;;http://evil.example\u001b\\e\u001b]0;title\u0007f\u009b31mg\u009d8;;x\u009ch\u0085i\u202ej\u2066k\u007fl\rm\bn\u001bo";
/** The same without the characters that separate the names of a path. */
const name = hostile.replaceAll(/[[\].]/g, "");
const quoted = escaped(hostile);

/** Every control and bidirectional character except tab and line feed. */
const forbidden = /[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/v;
/** The colors of the command line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches escape sequences
const colors = /\u001b\[(?:1|2|22|31|32|33|36|39)m/g;

const files = {
  "svc-project.yaml": `name: hostile
version: "1.0"
agents:
  - name: hostile
    webhooks:
      - slug: hook
        field_mapping: { ${escaped(name)}: sku, "order.id": id }
schedules:
  agents:
    hostile: { cron: "0 9 * * *", timezone: UTC, input: { ${quoted}: ${quoted} } }
`,
  "agents/hostile.js": `export default (input, ctx) => {
  const text = ${quoted};
  console.log(text);
  process.stdout.write(text.replace(/\\r/g, "") + "\\n");
  if (input.fails) throw Object.assign(new Error(text), { name: text });
  return { [text]: text };
};
`,
  "samples/hostile.json": JSON.stringify({ [hostile]: hostile }),
  "samples/hostile.hook.json": JSON.stringify({ [name]: hostile }),
};

/** Asserts that the hostile text was printed, and without its control characters. */
function expectClean({ stdout, stderr }: Pick<Result, "stdout" | "stderr">, command: string): void {
  expect.soft(forbidden.exec(stdout), `standard output of ${command}`).toBeNull();
  expect.soft(forbidden.exec(stderr), `standard error of ${command}`).toBeNull();
}

describe.each(commandRuntimes("bun"))("hostile text with svc on %s", (runtime) => {
  const service = useService(runtime);

  test("is printed without control characters", async () => {
    const cwd = await projectFolder("hostile", files);
    const run = async (line: string | string[], code = 0, options = {}) => {
      const result = await service.run(line, { cwd, ...options });
      expect.soft(result.code, `${line}: ${result.stderr}`).toBe(code);
      expectClean(result, String(line));
      return result;
    };
    await run(["keys", "create", "--name", hostile]);
    await run("keys");
    await run("push --dry-run --verbose");
    await run("push --force --verbose");
    await run("test", 0);
    await run(["run", "hostile", "--data", "samples/hostile.json"]);
    const ran = await run(["run", "hostile", "--data", "-"], 1, { input: '{"fails":true}' });
    expect(ran.stderr).toContain("abcdef");
    const { executions } = await service.json<{ executions: { execution_id: string }[] }>("executions list");
    const [failed = "", succeeded = ""] = executions.map(({ execution_id }) => execution_id);
    const { deployments } = await service.json<{ deployments: { deployment_id: string }[] }>("deployments");
    await run("executions");
    await run(`executions show ${failed}`);
    await run(`executions show ${succeeded}`);
    await run(`executions show ${succeeded} --json`);
    await run(`executions diff ${failed} ${succeeded}`, 1);
    await run("logs");
    await run("logs --json");
    await run("logs --verbose --audit");
    await run("status");
    await run("deployments");
    await run(`deployments show ${deployments[0]?.deployment_id}`);
    await run("webhook list");
    await run("webhook test hook --data samples/hostile.hook.json");
    await run("webhook test hook --data samples/hostile.hook.json --json");
    await run("webhook deliveries");
    await run("schedules");
    await run("schedules show hostile");
    await run("doctor");
    await run("push --force --redeploy --json");
  });

  test("is printed without control characters in messages", async () => {
    const valid = files["svc-project.yaml"].replace('"1.0"', quoted);
    const broken = `${valid}${quoted}: 1\n`;
    const cwd = await projectFolder("hostile", { ...files, "svc-project.yaml": broken });
    const fails = async (line: string | string[], code: number, options = {}) => {
      const result = await service.run(line, { cwd, ...options });
      expect.soft(result.code, `${line}: ${result.stderr}`).toBe(code);
      expectClean(result, JSON.stringify(line));
      return result;
    };
    expect((await fails("push --dry-run", 1)).stderr).toMatch(/svc-project\.yaml:\d+:\d+: /);
    await fails("doctor", 1);
    await fails("test", 1);
    await fails([hostile], 2);
    await fails(["push", `--${hostile}`], 2);
    await fails(["run", hostile], 1);
    await fails(["run", "hostile", "--data", hostile], 2);
    await fails(["run", "hostile", "--data", "-"], 2, { input: hostile });
    await fails(["executions", "show", hostile], 2);
    await fails(["status"], 2, { env: { SVC_BASE_URL: hostile } });
    await fails(["serve", "--host", hostile, "--port", "0"], 1);
    await fails(["serve", "--public-url", hostile], 2);
    const unloadable = {
      ...files,
      "agents/hostile.js": `console.log(${quoted}); throw new Error(${quoted});`,
    };
    const result = await service.run("push --dry-run", { cwd: await projectFolder("hostile", unloadable) });
    expect(result.code).toBe(1);
    expectClean(result, "push of a module that does not load");
  });

  test("on a terminal changes neither colors nor the screen", async () => {
    const cwd = await projectFolder("hostile", files);
    await service.run("push --force", { cwd });
    await service.run(["run", "hostile", "--data", "-"], { cwd, input: '{"fails":true}' });
    const { executions } = await service.json<{ executions: { execution_id: string }[] }>("executions list");
    for (const args of [
      ["executions", "show", executions[0]?.execution_id ?? ""],
      ["logs"],
      ["status"],
      ["doctor"],
    ]) {
      const { screen } = await svcOnTerminal(runtime, args, { cwd, env: service.env, columns: 200 });
      expect(screen).toMatch(colors);
      const rest = screen.replaceAll("\r\n", "\n").replace(colors, "");
      expect.soft(forbidden.exec(rest), `${args}: ${JSON.stringify(rest)}`).toBeNull();
    }
    const { screen } = await svcOnTerminal(runtime, ["run", hostile], { env: service.env });
    expect(screen.replaceAll("\r\n", "\n").replace(colors, "")).not.toMatch(forbidden);
  });
});

test("only the terminal module writes to standard output and standard error", () => {
  const cli = join(root, "cli");
  const writers = readdirSync(cli, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.startsWith("project/templates/"))
    .filter((path) =>
      /\b(?:std(?:out|err)|stream)\.write\((?!"")|\bconsole\.\w+\(/.test(
        readFileSync(join(cli, path), "utf8"),
      ),
    );
  expect(writers.toSorted()).toEqual([
    "terminal/password-prompt.ts",
    "terminal/progress-bar.ts",
    "terminal/write.ts",
  ]);
});

/** As source text of JSON, JavaScript and YAML. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u{10ffff}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
