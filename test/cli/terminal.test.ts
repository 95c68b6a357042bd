import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { projectFolder, svcOnTerminal, useService } from "./support.ts";

/** The screen without colors and cursor movements. */
function plain(screen: string): string {
  return stripVTControlCharacters(screen).replaceAll("\r", "");
}

describe.each(commandRuntimes("bun"))("on a terminal, svc on %s", (runtime) => {
  const service = useService(runtime);
  const ctrlC = "\u0003";
  const esc = "\u001b";
  const promptMs = 2_000;

  test("asks for confirmation: no, Esc and Ctrl-C deploy nothing, yes deploys", async () => {
    const cwd = await projectFolder("asked", { "agents/asked.js": "export default () => 1;\n" });
    const push = (types: string, afterMs = 0) =>
      svcOnTerminal(runtime, ["push"], {
        cwd,
        env: service.env,
        script: [{ when: "Deploy to production?", types, afterMs }],
      });
    for (const [answer, code] of [
      ["\r", 1],
      ["n", 1],
      [esc, 130],
      [ctrlC, 130],
    ] as const) {
      const no = await push(answer);
      expect(plain(no.screen)).toMatch(/\+ agent {5}asked\n(.|\n)*Nothing was changed\.\n$/);
      expect(plain(no.screen)).not.toMatch(/^Yes$/m);
      expect(no.code).toBe(code);
    }
    expect(await service.json("deployments --project asked")).toMatchObject({ deployments: [] });
    const startedAt = performance.now();
    const yes = await push("y", promptMs);
    const elapsedMs = performance.now() - startedAt;
    const text = plain(yes.screen);
    expect(text).toMatch(/Deployed asked 1\.0 to production in [\d.]+ m?s\.(.|\n)*deployment ID {2}dep_/);
    // The duration does not include the time at the prompt.
    const [, number = "", unit] = /production in ([\d.]+) (m?s)\./.exec(text) ?? [];
    expect(Number(number) * (unit === "s" ? 1000 : 1)).toBeLessThan(elapsedMs - promptMs);
    expect(yes.code).toBe(0);
    // The bar is drawn and removed.
    expect(yes.screen).toMatch(/Uploading .*100 %/);
    expect(yes.screen).toContain("\r\u001b[K");
    expect(await service.json("deployments --project asked")).toMatchObject({
      deployments: [{ status: "active" }],
    });
  });

  test("writes no backup to the screen", async () => {
    const args = ["admin", "backup", "-", "--data", service.dataDir];
    const { code, screen } = await svcOnTerminal(runtime, args, {});
    expect(plain(screen)).toMatch(/^error: Standard output is a terminal, .*\nhint: .*\n$/);
    expect(code).toBe(2);
  });

  test("reads a secret without echo, and Ctrl-C sets nothing", async () => {
    const set = (name: string, types: string) =>
      svcOnTerminal(runtime, ["secrets", "set", name], {
        env: service.env,
        script: [{ when: `Value of ${name}`, types }],
      });
    const done = await set("TYPED", "hunter3\u007f2\r");
    expect(plain(done.screen)).toBe("Value of TYPED: \n✔ Set TYPED.\n");
    expect(done.code).toBe(0);
    expect((await set("LEFT", `abc${ctrlC}`)).code).toBe(130);
    const pasted = await set("PASTED", "-----BEGIN PRIVATE KEY-----\rMIIEvQ\r-----END PRIVATE KEY-----\r");
    expect([pasted.code, plain(pasted.screen)]).toEqual([2, expect.stringContaining("several lines")]);
    expect(await service.json("secrets")).toMatchObject({ secrets: [{ name: "TYPED" }] });
  });

  test("prints colors except with NO_COLOR or TERM=dumb", async () => {
    const help = (env: Record<string, string>) => svcOnTerminal(runtime, ["--help"], { env });
    expect((await help({})).screen).toContain("\u001b[1mUsage\u001b[22m");
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }] as Record<string, string>[]) {
      expect((await help(env)).screen).not.toContain("\u001b");
    }
  });

  test("a table fits a narrow terminal and keeps the IDs", async () => {
    const cwd = await projectFolder("narrow", { "agents/narrow.js": "export default () => 1;\n" });
    await service.run("push --force", { cwd });
    const { screen } = await svcOnTerminal(runtime, ["status"], { env: service.env, columns: 72 });
    const lines = plain(screen).split("\n");
    expect(lines.every((line) => line.length <= 72)).toBe(true);
    expect(lines.find((line) => line.includes("narrow"))).toMatch(/dep_\w{26}/);
  });
});
