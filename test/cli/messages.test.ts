import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { type Result, svc, temporaryFolder } from "./support.ts";

const key = { SVC_API_KEY: "svc_a_b" };

/** A message, perhaps details, one line of advice, and no trace of how the program is built. */
function expectMessage(result: Result, message: RegExp, code: number): void {
  expect(result.stderr).toMatch(message);
  expect(result.stderr).toMatch(/^error: /);
  expect(result.stderr).toMatch(/\nhint: {2}.+\n$/);
  expect(result.stderr).not.toMatch(/\n {4}at |file:\/\/|node_modules/);
  expect(result.stdout).toBe("");
  expect(result.code).toBe(code);
}

/** The address of a port on which nothing listens. */
async function deadAddress(): Promise<string> {
  const server = createNetServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** The address of a web server that is not the service. */
async function foreignAddress(
  status: number,
  headers: Record<string, string>,
  body: string,
): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(commandRuntimes("bun"))("svc on %s says", (runtime) => {
  test.each(["webhook list", "executions", "status", "logs", "deployments", "schedules", "run x"])(
    "%s: no API key found",
    async (path) => {
      const result = await svc(runtime, path.split(" "));
      expectMessage(result, /No API key found(.|\n)*export SVC_API_KEY=/, 1);
    },
  );

  test("a blank key is no key", async () => {
    const result = await svc(runtime, ["webhook", "list"], { env: { SVC_API_KEY: "  " } });
    expectMessage(result, /No API key found/, 1);
  });

  test("a key with a line break in it, without showing it", async () => {
    const result = await svc(runtime, ["status"], { env: { SVC_API_KEY: "svc_a\nsvc_b" } });
    expectMessage(result, /SVC_API_KEY holds characters that no API key has/, 2);
    expect(result.stderr).not.toContain("svc_a");
  });

  test("that the service cannot be reached, and where it was looked for", async () => {
    const url = await deadAddress();
    const result = await svc(runtime, ["webhook", "list"], { env: { ...key, SVC_BASE_URL: `${url}/` } });
    expectMessage(result, new RegExp(`Cannot reach the service at ${url}\\b(.|\n)*Check the connection`), 1);
  });

  test("that a host does not exist", async () => {
    const env = { ...key, SVC_BASE_URL: "http://no-such-host.invalid" };
    const result = await svc(runtime, ["status"], { env });
    expectMessage(result, /Cannot reach the service at http:\/\/no-such-host\.invalid/, 1);
  });

  test("that a connection broke before the answer", async () => {
    const server = createNetServer((socket) => socket.once("data", () => socket.destroy()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const result = await svc(runtime, ["status"], { env: { ...key, SVC_BASE_URL: url } });
    expectMessage(result, new RegExp(`Cannot reach the service at ${url}`), 1);
  });

  test.each<[number, Record<string, string>, string]>([
    [404, { "Content-Type": "text/html" }, "<h1>Not found</h1>"],
    [200, { "Content-Type": "text/html" }, "<h1>Welcome</h1>"],
    [302, { Location: "http://127.0.0.1:1/elsewhere" }, ""],
    [502, { "Content-Type": "text/plain" }, "bad gateway"],
  ])("that HTTP %i of a web site is no answer of the service", async (status, headers, body) => {
    const url = await foreignAddress(status, headers, body);
    const result = await svc(runtime, ["status"], { env: { ...key, SVC_BASE_URL: url } });
    expectMessage(result, new RegExp(`is not this service \\(HTTP ${status}\\)(.|\n)*SVC_BASE_URL`), 1);
  });

  test.each(["ftp://host", "127.0.0.1:7070", "http://user:secret@host", "http://host/?a=1"])(
    "that %s is no base URL",
    async (url) => {
      const result = await svc(runtime, ["status"], { env: { ...key, SVC_BASE_URL: url } });
      expectMessage(result, /SVC_BASE_URL must be an http or https URL/, 2);
    },
  );

  test.each<[string, string | Uint8Array, RegExp]>([
    ["an array", "[1]", /must be a JSON object; input\.json holds an array\./],
    ["null", "null", /must be a JSON object; input\.json holds null\./],
    ["broken JSON", '{"a": ', /Cannot read input\.json: it is not JSON/],
    ["nothing", "", /Cannot read input\.json: it is empty\./],
    [
      "bytes that are not UTF-8",
      new Uint8Array([123, 34, 255, 34, 125]),
      /Cannot read input\.json: it is not UTF-8\./,
    ],
  ])("that an input of %s cannot be used, before anything is sent", async (_, content, message) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "input.json"), content);
    const env = { ...key, SVC_BASE_URL: await deadAddress() };
    const result = await svc(runtime, ["run", "triage", "--data", "input.json"], { cwd, env });
    expectMessage(result, message, 2);
  });

  test("that the file of --data is missing, also when it looks like JSON", async () => {
    const missing = await svc(runtime, ["run", "triage", "--data", "none.json"], { env: key });
    expectMessage(missing, /Cannot read none\.json: there is no such file\./, 2);
    const inline = await svc(runtime, ["run", "triage", "--data", '{"a":1}'], { env: key });
    expectMessage(inline, /there is no such file\.(.|\n)*--data takes a file/, 2);
  });

  test("that standard input is no JSON object", async () => {
    const result = await svc(runtime, ["run", "triage", "--data", "-"], { env: key, input: "7" });
    expectMessage(result, /standard input holds a number\./, 2);
  });
});
