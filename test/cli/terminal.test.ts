import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { projectFolder, svcOnTerminal, useService } from "./support.ts";

/** What a terminal shows, without colours and cursor movements. */
function plain(screen: string): string {
  return stripVTControlCharacters(screen).replaceAll("\r", "");
}

describe.each(runtimes)("on a terminal, svc on %s", (runtime) => {
  const service = useService(runtime);
  const ctrlC = "\u0003";

  test("asks before it deploys: no and Ctrl-C leave everything as it is, yes deploys", async () => {
    const cwd = await projectFolder("asked", { "agents/asked.js": "export default () => 1;\n" });
    const push = (types: string) =>
      svcOnTerminal(runtime, ["push"], {
        cwd,
        env: service.env,
        script: [{ when: "Deploy to production?", types }],
      });
    const no = await push("\r");
    expect(plain(no.screen)).toMatch(/\+ agent {5}asked\n(.|\n)*Nothing was changed\.\n$/);
    expect(no.code).toBe(1);
    expect((await push(ctrlC)).code).toBe(130);
    expect(await service.json("deployments --project asked")).toMatchObject({ deployments: [] });
    const yes = await push("y");
    expect(plain(yes.screen)).toMatch(/Deployed asked 1\.0 to production(.|\n)*deployment ID {2}dep_/);
    expect(yes.code).toBe(0);
    // The bar is drawn, and taken away again.
    expect(yes.screen).toMatch(/Uploading .*100 %/);
    expect(yes.screen).toContain("\r\u001b[K");
    expect(await service.json("deployments --project asked")).toMatchObject({
      deployments: [{ status: "active" }],
    });
  });

  test("reads a secret without showing it; Ctrl-C leaves it unset", async () => {
    const set = (name: string, types: string) =>
      svcOnTerminal(runtime, ["secrets", "set", name], {
        env: service.env,
        script: [{ when: `Value of ${name}`, types }],
      });
    const done = await set("TYPED", "hunter3\u007f2\r");
    expect(plain(done.screen)).toBe("Value of TYPED: \n✔ Set TYPED.\n");
    expect(done.code).toBe(0);
    expect((await set("LEFT", `abc${ctrlC}`)).code).toBe(130);
    expect(await service.json("secrets")).toMatchObject({ secrets: [{ name: "TYPED" }] });
  });

  test("shows colours, but not where NO_COLOR or TERM=dumb forbids them", async () => {
    const help = (env: Record<string, string>) => svcOnTerminal(runtime, ["--help"], { env });
    expect((await help({})).screen).toContain("\u001b[1mUsage\u001b[22m");
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }] as Record<string, string>[]) {
      expect((await help(env)).screen).not.toContain("\u001b");
    }
  });

  test("keeps each row of a table on its line", async () => {
    const cwd = await projectFolder("narrow", { "agents/narrow.js": "export default () => 1;\n" });
    await service.run("push --force", { cwd });
    const { screen } = await svcOnTerminal(runtime, ["status"], { env: service.env, columns: 90 });
    const lines = plain(screen).split("\n");
    expect(lines.every((line) => line.length <= 90)).toBe(true);
    expect(lines.find((line) => line.includes("narrow"))).toMatch(/…$/);
  });
});
