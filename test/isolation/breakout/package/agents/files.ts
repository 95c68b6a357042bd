import fs from "node:fs";
import module from "node:module";
import { type Agent, type Attempt, bun, deno, read, subject } from "../attempts.ts";

export const attempts: Record<string, Attempt> = {
  "a file by its path": ({ outside }) => read(`${outside}/secret`),
  "a file by a promise": ({ outside }) => fs.promises.readFile(`${outside}/secret`, "utf8"),
  "a file by a path of bytes": ({ outside }) => fs.readFileSync(Buffer.from(`${outside}/secret`), "utf8"),
  "a file by a URL": ({ outside }) => fs.readFileSync(new URL(`file://${outside}/secret`), "utf8"),
  "a file by dots": ({ outside }) => read(`${process.cwd()}/../../../../../../../../..${outside}/secret`),
  "a file by dots behind the package": ({ outside }) =>
    read(`${import.meta.dirname}/../../../../../../../../../../../..${outside}/secret`),
  "a file by doubled slashes": ({ outside }) => read(`//${outside.replaceAll("/", "//")}//secret`),
  "a stream": ({ outside }) =>
    new Promise((resolve, reject) => {
      fs.createReadStream(`${outside}/secret`, "utf8").on("data", resolve).on("error", reject);
    }),
  "a blob": async ({ outside }) => (await fs.openAsBlob(`${outside}/secret`)).text(),
  "a copy to the scratch folder": ({ outside }) => {
    fs.copyFileSync(`${outside}/secret`, "copy");
    return read("copy");
  },
  "a copy of a tree": ({ outside }) => {
    fs.cpSync(outside, "tree", { recursive: true });
    return read("tree/secret");
  },
  "a hard link": ({ outside }) => {
    fs.linkSync(`${outside}/secret`, "hard");
    return read("hard");
  },
  "a symbolic link": ({ outside }) => {
    fs.symlinkSync(`${outside}/secret`, "soft");
    return read("soft");
  },
  "a relative symbolic link that is moved": ({ outside }) => {
    fs.mkdirSync("1/2/3", { recursive: true });
    fs.symlinkSync(`../../../../../../../../../..${outside}`, "1/2/3/up");
    fs.renameSync("1/2/3/up", "moved");
    return read("moved/secret");
  },
  "a folder's entries": ({ outside }) => `${fs.readdirSync(outside)} TOP SECRET`,
  "a folder's entries by opendir": ({ outside }) => `${fs.opendirSync(outside).readSync()?.name} TOP SECRET`,
  "an import of JSON": async ({ outside }) =>
    (await import(`${outside}/secret.json`, { with: { type: "json" } })).default,
  "a require of JSON": ({ outside }) => module.createRequire(import.meta.url)(`${outside}/secret.json`),
  "a fetch of a file URL": async ({ outside }) => (await fetch(`file://${outside}/secret`)).text(),
  "an SQLite database": ({ outside }) => {
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    return new DatabaseSync(`${outside}/secret.db`).prepare("SELECT * FROM secret").get();
  },
  "an environment file": ({ outside }) => {
    process.loadEnvFile(`${outside}/secret.env`);
    const { PRIZE } = process.env;
    delete process.env.PRIZE;
    return PRIZE;
  },
  "the accounts of the system": () => `${read("/etc/passwd").slice(0, 20)} TOP SECRET`,
  "the program files of the system": () => `${fs.readdirSync("/usr/bin")[0]} TOP SECRET`,
  "Bun.file": ({ outside }) => bun<(path: string) => Blob>("file")(`${outside}/secret`).text(),
  "Bun.mmap": ({ outside }) =>
    Buffer.from(bun<(path: string) => Uint8Array>("mmap")(`${outside}/secret`)).toString(),
  "Deno.readTextFile": ({ outside }) => deno<(path: string) => unknown>("readTextFile")(`${outside}/secret`),
  "Deno.open through /dev/fd": ({ outside }) =>
    deno<(path: string) => string>("readTextFileSync")(`/dev/fd/../root${outside}/secret`),
  "WASI with the root folder": async ({ outside }) => {
    const { WASI } = process.getBuiltinModule("node:wasi");
    new WASI({ version: "preview1", preopens: { "/": outside } });
    return `${fs.readdirSync(outside)} TOP SECRET`;
  },
};

const agent: Agent = subject(attempts);
export default agent;
