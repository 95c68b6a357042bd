/**
 * Makes `import { Script } from "node:vm"` return guarded functions on Deno, whose built-in modules keep their original
 * exports: `syncBuiltinESMExports` has no effect there.
 */
import module from "node:module";

const guarded: readonly string[] = ["vm", "module", "fs", "fs/promises"];

/** The location of the replacements. No file needs to exist. */
const folder = "file:///svc-guarded/";

/** Called after the members of the guarded modules have been replaced. */
export function exportGuardedBuiltins(): void {
  // Hooks of users' code could return the original modules.
  const { registerHooks } = module;
  for (const name of ["register", "registerHooks"]) {
    Object.assign(module, {
      [name]() {
        throw new Error("Cannot register module hooks: agents and workflows share the runner");
      },
    });
  }
  const sources = new Map(guarded.map((name) => [`${folder}${name}.mjs`, sourceOf(name)]));
  registerHooks({
    resolve(specifier, context, next) {
      const url = `${folder}${specifier.replace(/^node:/, "")}.mjs`;
      // `require` returns the object whose members were replaced.
      const replaced = sources.has(url) && !context.conditions?.includes("require");
      return replaced ? { url, format: "module", shortCircuit: true } : next(specifier, context);
    },
    load(url, context, next) {
      const source = sources.get(url);
      return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

/** A module with the exports of the built-in module as they are now. */
function sourceOf(name: string): string {
  const names = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {}).filter(
    (key) => key !== "default",
  );
  return [
    `const members = process.getBuiltinModule("node:${name}");`,
    "export default members;",
    ...names.map((key) => `const $${key} = members[${JSON.stringify(key)}]; export { $${key} as ${key} };`),
  ].join("\n");
}
