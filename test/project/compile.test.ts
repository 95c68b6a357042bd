/** TypeScript that is not erasable is compiled, on every runtime with the positions of the source in stacks. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isErasable } from "../../project/bundle/erasable.ts";
import { prepareProject } from "../../project/prepare.ts";
import { stageFiles } from "../../project/stage.ts";
import { commandOf, root, runtimes } from "../support/runtimes.ts";
import { testFolder, writeFiles } from "./folder.ts";

test.each([
  "enum Color { Red }",
  "export const enum Color { Red }",
  "namespace N { export const a = 1; }",
  "class A { constructor(readonly a: number) {} }",
  "class A { constructor(a = f(1, (2)), private override b?: string) {} }",
  "class A {\n  @logged\n  run() {}\n}",
  "@decorate() export class A {}",
  "class A { accessor a = 1; }",
  'const a = "x"; // enum\nenum B { A }',
])("compiles %j", (code) => {
  expect(isErasable(code)).toBe(false);
});

test.each([
  "const a: number = 1;",
  "declare enum Color { Red }",
  "declare const enum Color { Red }",
  "declare namespace N { const a: number }",
  'const text = "enum Color { Red }", mail = "a@b.c";',
  "// enum Color { Red }\n/* @decorate class A { constructor(private a) {} } */",
  "const pattern = /enum A {}|@x/;",
  "const text = `@a enum B {}`;",
  "class A { constructor(a: number, b: { readonly c: string }) {} }",
  "const o = { enum: 1, namespace: 2, module: { a: 1 } }; o.enum; o.module;",
  "interface A { constructor(a: string): void }",
])("leaves %j as it is", (code) => {
  expect(isErasable(code)).toBe(true);
});

const shape = `/** A comment that compilation removes. */
interface Unused {
  a: number;
}

enum Level {
  Low = 1,
  High,
}

function counted(value: (this: Shape) => number, _context: ClassMethodDecoratorContext) {
  return function (this: Shape) {
    return value.call(this) + 1;
  };
}

export class Shape {
  constructor(private readonly size: Level) {}

  @counted
  area(): number {
    return this.size;
  }

  fail(): never {
    throw new RangeError("no shape");
  }
}
export const high: Level = Level.High;
`;
const agent = `import { high, Shape } from "../lib/shape.ts";

export default ({ fails }: { fails?: boolean }): unknown => {
  const shape = new Shape(high);
  // Bun's stacks leave out the frame of a call in tail position.
  if (fails) shape.fail();
  return shape.area();
};
`;

test("a compiled module runs on every runtime, and its stacks name lines of the source", async () => {
  const project = testFolder();
  const files = { "agents/a.ts": agent, "lib/shape.ts": shape };
  writeFiles(project, { "svc-project.yaml": 'name: p\nversion: "1"\nagents: [{ name: a }]\n', ...files });
  const prepared = await prepareProject(project);
  expect(prepared.problems).toEqual([]);
  const paths = prepared.files.map(({ path }) => path);
  expect(paths).toEqual([".svc-maps/lib/shape.ts.map", "agents/a.ts", "lib/shape.ts", "svc-project.yaml"]);
  // Erasable TypeScript stays as it is.
  expect(prepared.files.find(({ path }) => path === "agents/a.ts")?.content).toBeUndefined();
  const staged = testFolder();
  await stageFiles(prepared.files, staged);
  const results = await Promise.all(
    runtimes.map(async (runtime) => {
      const [program, ...args] = commandOf(runtime);
      const main = join(root, "test/project/compile-main.ts");
      const { stdout } = await promisify(execFile)(program, [...args, main, staged, "agents/a.ts"]);
      return stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    }),
  );
  const lineOf = (code: string, text: string) => code.slice(0, code.indexOf(text)).split("\n").length;
  const thrownAt = `lib/shape.ts:${lineOf(shape, "throw new")}:`;
  for (const [output, error, logged] of results) {
    expect(output).toBe(3);
    expect(error).toMatchObject({ name: "RangeError", place: { line: lineOf(shape, "throw new") } });
    expect(error.stack).toContain(thrownAt);
    expect(error.stack).toContain(`agents/a.ts:${lineOf(agent, "shape.fail()")}:`);
    expect(logged).toContain(thrownAt);
  }
});
