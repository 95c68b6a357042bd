/** Values of secrets are redacted in log entries, outputs and errors: in responses, in streams and in the store. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { call, lines, ok, open, runToEnd, watched } from "../../support/rest.ts";
import type { TestServer } from "../../support/server.ts";
import type { ExecutionJson, LogLineJson } from "../../support/shapes.ts";
import { rows } from "../../support/store.ts";
import { onRuntime } from "../../support/suite.ts";

const values = {
  TOKEN: "planted-token-5f3c9b",
  QUOTED: 'planted"quoted\\5f',
  PIN: "84631975",
  TINY: "ab1",
};

const needles = ["planted-", 'planted"', "84631975"];

const agents = {
  prints: `export default async (_, ctx) => {
    const { TOKEN, QUOTED } = ctx.secrets;
    console.log("token", TOKEN, { QUOTED });
    console.error(JSON.stringify({ TOKEN, QUOTED }));
    process.stdout.write("raw " + TOKEN + "\\n");
    ctx.log.info("tiny " + ctx.secrets.TINY);
    await new Promise((done) => setTimeout(done, 20));
    return null;
  };`,
  returns: `export default (_, ctx) => {
    const { TOKEN, QUOTED, PIN, TINY } = ctx.secrets;
    return { [TOKEN]: TOKEN + "!", nested: [QUOTED, JSON.stringify({ QUOTED })], pin: Number(PIN), TINY, n: 1.5 };
  };`,
  throws: `export default (_, ctx) => {
    const error = new Error("bad " + ctx.secrets.TOKEN);
    error.name = "E" + ctx.secrets.TOKEN;
    throw error;
  };`,
  remembers: `let kept; export default (_, ctx) => { kept ??= ctx.secrets.ROTATED; return kept; };`,
};
const workflows = {
  asks: `export default async (_, ctx) => await ctx.run("returns", {}).then((output) => output.nested[0]);`,
};

onRuntime("deno", "redaction", {}, (server) => {
  const set = (name: string, value: string) =>
    ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value } });
  beforeAll(async () => {
    for (const [name, value] of Object.entries(values)) await set(name, value);
    await deploy(server, { agents, workflows });
  });

  test("redacts log entries, also in streams", async () => {
    const stream = await open(server, "GET", "/api/v1/logs?follow=true&name=prints");
    await runToEnd(server, "prints");
    const messages: string[] = [];
    for await (const { log } of lines<{ log: LogLineJson }>(stream)) {
      messages.push(log.message);
      if (messages.length === 4) break;
    }
    const text = messages.join("\n");
    expect(text).toContain("token ***");
    expect(text).toContain('{"TOKEN":"***","QUOTED":"***"}');
    expect(text).toContain("raw ***");
    expect(text).toContain("tiny ab1");
    expect(text).not.toContain("planted");
  });

  test("redacts outputs, which stay JSON", async () => {
    const { execution_id, output } = await runToEnd(server, "returns");
    const redacted = {
      "***": "***!",
      nested: ["***", '{"QUOTED":"***"}'],
      pin: "***",
      TINY: "ab1",
      n: 1.5,
    };
    expect(output).toEqual(redacted);
    const events = await watched(server, execution_id);
    expect(JSON.stringify(events)).not.toContain("planted");
    expect((await runToEnd(server, "asks")).output).toBe("***");
  });

  test("redacts errors, and the log entry about them", async () => {
    const { error, execution_id } = await runToEnd(server, "throws");
    expect(error).toMatchObject({ name: "E***", message: "bad ***" });
    expect(error?.stack).toContain("bad ***");
    const { text } = await call(server, "GET", `/api/v1/logs?execution_id=${execution_id}`);
    expect(text).toContain("failed: E***: bad ***");
    expect(text).not.toContain("planted");
  });

  test("redacts a replaced value that running code still holds", async () => {
    await set("ROTATED", "planted-before-rotation");
    expect((await runToEnd(server, "remembers")).output).toBe("***");
    await set("ROTATED", "planted-after-rotation");
    const later: ExecutionJson = await runToEnd(server, "remembers");
    expect(later.output).toBe("***");
  });

  test("stores no value", async () => {
    await server.kill("SIGTERM");
    for (const row of server.engine === "postgres" ? await rowsOf(server) : []) {
      for (const needle of needles) expect(row.includes(needle), `${needle} is in ${row}`).toBe(false);
    }
    const files = readdirSync(server.dataDir, { recursive: true, encoding: "utf8" })
      .map((path) => join(server.dataDir, path))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
    expect(files.some((path) => path.endsWith("svc.db"))).toBe(server.engine === "sqlite");
    for (const path of files) {
      const content = readFileSync(path);
      for (const needle of needles) {
        expect(content.includes(needle), `${needle} is in ${path}`).toBe(false);
      }
    }
  });
});

/** Every row of a PostgreSQL database, as text. */
async function rowsOf(server: TestServer): Promise<string[]> {
  const engine = await server.openStore();
  const tables = await rows<{ name: string }>(
    engine,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    for (const { text } of await rows<{ text: string }>(engine, `SELECT t::text AS text FROM ${name} t`))
      found.push(text);
  }
  await engine.close();
  expect(found.some((row) => row.includes("***"))).toBe(true);
  return found;
}
