/** Modules whose types were stripped for later runners on Node. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownBoundary } from "../../server/executions/sandbox/boundary.ts";
import { TypeStripper } from "../../server/executions/types/type-stripper.ts";
import { Lab } from "./lab.ts";

const typed = `interface Input {
  fail: boolean;
}
export default function typed({ fail }: Input): string {
  if (fail as boolean) throw new Error("no");
  return "original";
}
`;
const notErasable = "enum Colour { Red }\nexport default () => Colour.Red;\n";

async function withLab(limits: { idleMs?: number }, work: (lab: Lab) => Promise<void>): Promise<void> {
  const lab = new Lab("stripped", limits);
  lab.write("agents/typed.ts", typed);
  lab.write("agents/not-erasable.ts", notErasable);
  try {
    await work(lab);
  } finally {
    await lab.close();
  }
}

const strippedIn = (lab: Lab): string => join(lab.package, ".svc-stripped");

async function strip(lab: Lab): Promise<void> {
  await new TypeStripper(ownBoundary, join(lab.folder, "types")).strip(lab.package);
}

test("strips types without moving positions, and omits modules that Node cannot load", async () => {
  await withLab({}, async (lab) => {
    lab.write("node_modules/library/index.ts", typed);
    await strip(lab);
    const code = readFileSync(join(strippedIn(lab), "agents/typed.ts"), "utf8");
    expect(code.split("\n")[4]).toBe('  if (fail           ) throw new Error("no");');
    expect(code).not.toContain("interface");
    expect(existsSync(join(strippedIn(lab), "agents/not-erasable.ts"))).toBe(false);
    expect(readdirSync(strippedIn(lab))).toEqual(["agents"]);
  });
});

test("runs stripped modules, and reports errors at the positions of the source", async () => {
  await withLab({}, async (lab) => {
    await strip(lab);
    const failed = await lab.run("typed", { fail: true });
    expect(failed).toMatchObject({
      type: "failed",
      error: { message: "no", stack: expect.stringContaining("agents/typed.ts:5:") },
    });
    expect(await lab.run("not-erasable", {})).toMatchObject({ type: "failed", reason: "load" });
    expect(await lab.run("good", { n: 1 })).toMatchObject({ type: "succeeded" });
  });
});

test("strips a package when its runner has ended, for the next one", async () => {
  await withLab({ idleMs: 1 }, async (lab) => {
    const created = nextFile(lab.package, ".svc-stripped");
    expect(await lab.run("typed", { fail: false })).toMatchObject({ output: '"original"' });
    await created;
    lab.write(".svc-stripped/agents/typed.ts", 'export default () => "stripped";');
    expect(await lab.run("typed", { fail: false })).toMatchObject({ output: '"stripped"' });
  });
});

async function nextFile(folder: string, name: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename === name) return;
}
