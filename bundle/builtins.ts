/**
 * Reads the modules of the runtime with `process.getBuiltinModule`. An import of one reads all of its exports, and with
 * them the parts that Node loads only when they are used: an import of `node:http` loads `WebSocket` and the whole of
 * `fetch`, about 6 MB and the time in which Node itself starts; `node:fs` and `node:util` take a tenth of that each.
 */
import { isBuiltin } from "node:module";
import type { Plugin } from "esbuild";

export const builtins: Plugin = {
  name: "builtins",
  setup(build) {
    build.onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined;
      return kind === "import-statement" ? { path, namespace: "builtin" } : { path, external: true };
    });
    build.onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => ({ contents: exportsOf(path) }));
  },
};

/** A module of which only the exports that are used remain in the bundle, and are read. */
function exportsOf(builtin: string): string {
  const names = Object.keys(process.getBuiltinModule(builtin) ?? {}).filter((name) => name !== "default");
  return [
    `const builtin = process.getBuiltinModule(${JSON.stringify(builtin)});`,
    "export default builtin;",
    ...names.map(
      (name) =>
        `const $${name} = /* @__PURE__ */ (() => builtin.${name})();\nexport { $${name} as ${name} };`,
    ),
  ].join("\n");
}
