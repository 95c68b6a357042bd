/** Modules that cannot be checked in as they are: they do not compile, or not on every runtime. */
export const brokenModules: Record<string, string> = {
  "agents/good.ts": `
    import { defineAgent, FinalError } from "svc";
    import helper from "./lib/helper.ts";
    import data from "./lib/data.json" with { type: "json" };
    import esm from "esm-package";
    import sub from "esm-package/sub";
    import commonjs, { named } from "commonjs-package";
    import { readFile } from "fs/promises";
    export default defineAgent(async (input: { n: number }) => [
      typeof FinalError, helper, data.text, esm, sub, commonjs.named, named, typeof readFile,
    ]);`,
  "agents/lib/helper.ts": `export default "helper" as string;`,
  "agents/lib/data.json": `{ "text": "json" }`,
  "agents/index-folder/index.mjs": `export default () => "folder";`,
  "agents/commonjs.cjs": `module.exports = () => "commonjs";`,
  "node_modules/esm-package/package.json": JSON.stringify({
    name: "esm-package",
    version: "1.0.0",
    type: "module",
    exports: { ".": "./main.js", "./sub": "./sub.js" },
  }),
  "node_modules/esm-package/main.js": `import inner from "inner-package"; export default "esm+" + inner;`,
  "node_modules/esm-package/sub.js": `export default "sub";`,
  "node_modules/inner-package/package.json": JSON.stringify({
    name: "inner-package",
    version: "1.0.0",
    main: "main.js",
  }),
  "node_modules/inner-package/main.js": `module.exports = "inner";`,
  "node_modules/commonjs-package/package.json": JSON.stringify({
    name: "commonjs-package",
    version: "1.0.0",
  }),
  "node_modules/commonjs-package/index.js": `const path = require("path"); exports.named = "named" + path.sep;`,

  "agents/plugin.ts": `
    import * as plugin from "svc/plugin";
    export default () => Object.keys(plugin).length > 0;`,
  "agents/top-level-throw.ts": `
    const answer: number = 42;
    throw new RangeError("at the top " + answer);
    export default () => 1;`,
  "agents/syntax-error.ts": `export default () => 1;
const = 2;
`,
  "agents/missing-file.ts": `
    import nothing from "./nothing.ts";
    export default () => nothing;`,
  "agents/missing-package.ts": `
    import nothing from "no-such-package-anywhere";
    export default () => nothing;`,
  "agents/missing-export.ts": `
    import { nothing } from "./good.ts";
    export default () => nothing;`,
  "agents/remote.ts": `
    import nothing from "https://example.invalid/nothing.ts";
    export default () => nothing;`,
  "agents/no-default.ts": `export const handler = () => 1;`,
  "agents/no-function.ts": `export default { handler() {} };`,
  "agents/not-erasable.ts": `
    enum Colour { Red }
    export default () => Colour.Red;`,
  "agents/top-level-exit.ts": `process.exit(1); export default () => 1;`,
  "agents/top-level-await.ts": `await new Promise(() => {}); export default () => 1;`,
  "agents/top-level-spin.ts": `for (;;); export default () => 1;`,
  "agents/trap.ts": `globalThis.trap = true; export default () => 1;`,
  "agents/trapped.ts": `if (globalThis.trap) throw new Error("trapped"); export default () => 1;`,
  "agents/top-level-abort.ts": `process.abort(); export default () => 1;`,
};
