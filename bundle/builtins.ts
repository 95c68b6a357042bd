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
    build.onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
