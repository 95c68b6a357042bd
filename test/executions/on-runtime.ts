/**
 * The same scenarios on every runtime: on Node in this process, on Bun and Deno in a program that prints the results. The
 * first scenario asserts the runtime. Each runtime has its own test file, so that they run in parallel.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandOf, commandRuntimes, type Runtime, root } from "../support/runtimes.ts";
import type { Report, Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

type Line = { name: string; failure?: string } & Partial<Report>;

export function testWithin(): void {
  for (const { name, run, check } of scenariosOf("node")) {
    test(name, async () => {
      const report: Report = JSON.parse(JSON.stringify(await run()));
      check(report.found, expect, "node");
      expectNoPaths(report);
    });
  }
}

export function testOn(runtime: Runtime): void {
  const wanted = scenariosOf(runtime);
  const lines = useProgram(runtime, wanted);
  for (const { name, check } of wanted) {
    test(name, { timeout: 300_000 }, async () => {
      const { failure, ...report } = await lines(name);
      expect(failure).toBeUndefined();
      check(report.found, expect, runtime);
      expectNoPaths(report as Report);
    });
  }
}

function scenariosOf(runtime: Runtime): readonly Scenario[] {
  return scenarios.filter(({ ofPool }) => !ofPool || commandRuntimes("bun").includes(runtime));
}

/** Users see everything that leaves the pool. It must not contain folders of the server. */
function expectNoPaths({ said, folders }: Report): void {
  for (const folder of [...folders, root.replace(/\/$/, ""), process.execPath])
    expect(said).not.toContain(folder);
}

/** Runs the scenarios on a runtime and returns the report of each. */
function useProgram(runtime: Runtime, wanted: readonly Scenario[]): (name: string) => Promise<Line> {
  const lines = new Map(wanted.map(({ name }) => [name, Promise.withResolvers<Line>()]));
  const [command, ...args] = commandOf(runtime);
  let end: () => void = () => {};
  beforeAll(() => {
    const child = spawn(command, [...args, join(root, "test/executions/run-scenarios.ts"), ...lines.keys()], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    end = () => child.kill();
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line: Line = JSON.parse(text);
      lines.get(line.name)?.resolve(line);
    });
    child.on("close", (code, signal) => {
      const failure = `The program ended before this (${signal ?? code})`;
      for (const [name, line] of lines) line.resolve({ name, failure });
    });
  });
  afterAll(() => end());
  return (name) => lines.get(name)?.promise ?? Promise.reject(new Error(`No scenario is named ${name}`));
}
