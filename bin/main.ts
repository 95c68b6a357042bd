// `cli/main.ts` is a link to this file, for `node cli/main.ts` in a checkout. Node 20 refuses TypeScript files of ES module
// packages and runs others as JavaScript, so the package.json of this folder lets it get as far as the version check.
// Deno resolves the import from the link, Node and Bun from this file: the path is right from both.
// @ts-expect-error the launcher is plain JavaScript
import("../cli/launcher.js");
