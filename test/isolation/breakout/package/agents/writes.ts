import fs from "node:fs";
import module from "node:module";
import path from "node:path";
import v8 from "node:v8";
import { type Agent, type Attempt, bun, deno, subject } from "../attempts.ts";

const here = import.meta.filename;
const folder = path.join(import.meta.dirname, "..");

const outsideWrites: Record<string, Attempt> = {
  "overwrite a file": ({ outside }) => fs.writeFileSync(`${outside}/secret`, "overwritten"),
  "append to a file": ({ outside }) => fs.appendFileSync(`${outside}/secret`, "appended"),
  "remove a file": ({ outside }) => fs.rmSync(`${outside}/secret`),
  "truncate a file": ({ outside }) => fs.truncateSync(`${outside}/secret`),
  "move a file away": ({ outside }) => fs.renameSync(`${outside}/secret`, "moved"),
  "change a file's mode": ({ outside }) => fs.chmodSync(`${outside}/secret`, 0o777),
  "change a file's times": ({ outside }) => fs.utimesSync(`${outside}/secret`, 1, 1),
  "create a file": ({ outside }) => fs.writeFileSync(`${outside}/new`, "new"),
  "create a folder": ({ outside }) => fs.mkdirSync(`${outside}/folder`),
  "create a temporary folder": ({ outside }) => fs.mkdtempSync(`${outside}/temporary`),
  "create a file through a link": ({ outside }) => {
    fs.symlinkSync(outside, "through");
    fs.writeFileSync("through/new", "new");
  },
  "create a database": ({ outside }) => {
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    new DatabaseSync(`${outside}/new.db`).exec("CREATE TABLE new (x)");
  },
  "write a heap snapshot": ({ outside }) => v8.writeHeapSnapshot(`${outside}/heap`),
  "write a diagnostic report": ({ outside }) => {
    process.report.writeReport(`${outside}/report.json`);
    // Bun and Deno do not report a failure.
    fs.statSync(`${outside}/report.json`);
  },
  "write a compile cache": ({ outside }) => {
    const { status, message } = module.enableCompileCache(`${outside}/cache`);
    if (status !== 1) throw new Error(message);
    module.createRequire(import.meta.url)("./cached.cjs");
    module.flushCompileCache();
  },
  "Bun.write": ({ outside }) =>
    bun<(path: string, text: string) => unknown>("write")(`${outside}/new`, "new"),
  "Deno.writeTextFile": ({ outside }) =>
    deno<(path: string, text: string) => unknown>("writeTextFile")(`${outside}/new`, "new"),
  "Deno.makeTempFile": ({ outside }) => deno<(options: object) => unknown>("makeTempFile")({ dir: outside }),
};

/** Files that all runners of a deployment load. */
const packageWrites: Record<string, Attempt> = {
  "add a file to the package": () =>
    fs.writeFileSync(path.join(folder, "agents/added.ts"), "added") ?? "TOP SECRET",
  "overwrite a module of the package": () => fs.appendFileSync(here, "\n") ?? "TOP SECRET",
  "change the mode of an open file": () => {
    const file = fs.openSync(here, "r");
    fs.fchmodSync(file, 0o777);
    return "TOP SECRET";
  },
  "change the times of an open file": () => {
    const file = fs.openSync(here, "r");
    fs.futimesSync(file, 1, 1);
    return "TOP SECRET";
  },
  "overwrite the modules of svc": () =>
    fs.appendFileSync(path.join(folder, "node_modules/svc/package.json"), " ") ?? "TOP SECRET",
};

export const attempts: Record<string, Attempt> = { ...outsideWrites, ...packageWrites };

const agent: Agent = subject(attempts);
export default agent;
