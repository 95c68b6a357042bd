/** The tables of docs/configuration.md against the code. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import serve from "../../cli/commands/serve.ts";
import { limitVariables } from "../../server/config/limits.ts";
import { loadConfig } from "../../server/config.ts";
import { filesUnder, read } from "../architecture/prose.ts";
import { root } from "../support/runtimes.ts";

const page = readFileSync(join(root, "docs/configuration.md"), "utf8");

/** The rows of the first table below a heading, without the table's own heading. */
function rows(heading: string): string[][] {
  const [, after = ""] = page.split(`\n${heading}\n`);
  const [section = ""] = after.split(/\n#+ /);
  return [...section.matchAll(/^\| ?(.*) \|$/gm)]
    .map(([, cells = ""]) => cells.split(/ ?\| /).map((each) => each.trim()))
    .slice(1);
}

const code = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

test("lists the limits with their defaults", () => {
  const listed = rows("## Limits").flatMap(([, defaults = "", variables = ""]) => {
    const values = defaults.split(/, (?=\d)/).map(amount);
    return code(variables).map((variable, index) => [variable, values[index]]);
  });
  const known = Object.values(limitVariables).map(({ variable, default: standard }) => [variable, standard]);
  expect(listed.toSorted()).toEqual(known.toSorted());
});

test("lists the options of svc serve, each with its variable", () => {
  const options = rows("## Server").flatMap(([names = ""]) => code(names).map((name) => name.slice(2)));
  const known = Object.keys(serve.args).filter((name) => name !== "verbose");
  expect(options.toSorted()).toEqual(known.toSorted());
});

test("states the defaults of the variables of the server", () => {
  const config = loadConfig({}, {});
  const stated = Object.fromEntries(
    rows("## Server").flatMap(([, variables = "", standard = ""]) =>
      code(variables).map((variable) => [variable, code(standard)[0] ?? standard]),
    ),
  );
  expect(stated).toMatchObject({
    SVC_HOST: config.host,
    SVC_PORT: String(config.port),
    SVC_DATA_DIR: ".svc",
    SVC_ROLE: config.role,
    SVC_SANDBOX: config.runners.sandbox,
    SVC_RUNNER_NETWORK: "public",
    SVC_CORS_ORIGINS: "none",
    SVC_ALLOWED_HOSTS: "none",
    SVC_ALLOW_UNSANDBOXED: "none",
  });
  const database = { SVC_DATABASE_URL: "postgres://u:p@localhost/d" };
  expect(stated.SVC_DATABASE_CONNECTIONS).toBe(String(loadConfig({}, database).database?.connections));
});

test("lists every variable that the code reads, and no other", () => {
  const names = ["server", "cli", "client", "plugin"]
    .flatMap((folder) => filesUnder(folder, /\.ts$/))
    .flatMap((file) => read(file).match(/\bSVC_[A-Z_]+\b/g) ?? [])
    .map((name) => (name.startsWith("SVC_SECRET_") ? "SVC_SECRET_" : name));
  // Between the server and its runners.
  const internal = new Set(["SVC_RUNNER_EGRESS"]);
  const known = new Set(names.filter((name) => !internal.has(name)));
  const listed = new Set(page.match(/\bSVC_[A-Z_]+/g));
  expect([...listed].toSorted()).toEqual([...known].toSorted());
});

/** Converts `1 MiB`, `20,000` or `64 levels` to a number. */
function amount(text: string): number {
  const number = Number(/^[\d,]+/.exec(text)?.[0].replaceAll(",", ""));
  const [unit = ""] = /[KMG]iB/.exec(text) ?? [];
  return number * ({ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[unit] ?? 1);
}
