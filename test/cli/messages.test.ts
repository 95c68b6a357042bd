import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { type Result, svc, temporaryFolder } from "./support.ts";

const key = { SVC_API_KEY: "svc_a_b" };

/** Expects a message, optional details, one line of advice, and no stack trace. */
function expectMessage(result: Result, message: RegExp, code: number): void {
  expect(result.stderr).toMatch(message);
  expect(result.stderr).toMatch(/^error: /);
  expect(result.stderr).toMatch(/\nhint: {2}.+\n$/);
  expect(result.stderr).not.toMatch(/\n {4}at |file:\/\/|node_modules/);
  expect(result.stdout).toBe("");
  expect(result.code).toBe(code);
}

/** The address of a closed port. */
async function deadAddress(): Promise<string> {
  const server = createNetServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** The address of another web server. */
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

describe.each(commandRuntimes("bun"))("svc on %s reports", (runtime) => {
  test.each(["webhook list", "executions", "status", "logs", "deployments", "schedules", "run x"])(
    "%s: a missing API key",
    async (path) => {
      const result = await svc(runtime, path.split(" "));
      expectMessage(result, /No API key found(.|\n)*export SVC_API_KEY=/, 1);
    },
  );

  test("a blank API key as missing", async () => {
    const result = await svc(runtime, ["webhook", "list"], { env: { SVC_API_KEY: "  " } });
    expectMessage(result, /No API key found/, 1);
  });

  test("an API key with a line break, without printing it", async () => {
    const result = await svc(runtime, ["status"], { env: { SVC_API_KEY: "svc_a\nsvc_b" } });
    expectMessage(result, /SVC_API_KEY contains characters that an API key cannot have/, 2);
    expect(result.stderr).not.toContain("svc_a");
  });

  test("an unreachable service with its address", async () => {
    const url = await deadAddress();
    const result = await svc(runtime, ["webhook", "list"], { env: { ...key, SVC_BASE_URL: `${url}/` } });
    expectMessage(result, new RegExp(`Cannot reach the service at ${url}\\b(.|\n)*Check the connection`), 1);
  });

  test("an unknown host", async () => {
    const env = { ...key, SVC_BASE_URL: "http://no-such-host.invalid" };
    const result = await svc(runtime, ["status"], { env });
    expectMessage(result, /Cannot reach the service at http:\/\/no-such-host\.invalid/, 1);
  });

  test("a connection that breaks before the response", async () => {
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
  ])("a response with HTTP %i from another web server", async (status, headers, body) => {
    const url = await foreignAddress(status, headers, body);
    const result = await svc(runtime, ["status"], { env: { ...key, SVC_BASE_URL: url } });
    expectMessage(result, new RegExp(`is not this service \\(HTTP ${status}\\)(.|\n)*SVC_BASE_URL`), 1);
  });

  test.each(["ftp://host", "127.0.0.1:7070", "http://user:secret@host", "http://host/?a=1"])(
    "%s as an invalid base URL",
    async (url) => {
      const result = await svc(runtime, ["status"], { env: { ...key, SVC_BASE_URL: url } });
      expectMessage(result, /SVC_BASE_URL must be an http or https URL/, 2);
    },
  );

  test.each<[string, string | Uint8Array, RegExp]>([
    ["an array", "[1]", /must be a JSON object; input\.json contains an array\./],
    ["null", "null", /must be a JSON object; input\.json contains null\./],
    ["broken JSON", '{"a": ', /Cannot read input\.json: it is not JSON/],
    ["no bytes", "", /Cannot read input\.json: it is empty\./],
    ["invalid UTF-8", new Uint8Array([123, 34, 255, 34, 125]), /Cannot read input\.json: it is not UTF-8\./],
  ])("an input of %s before it sends a request", async (_, content, message) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "input.json"), content);
    const env = { ...key, SVC_BASE_URL: await deadAddress() };
    const result = await svc(runtime, ["run", "triage", "--data", "input.json"], { cwd, env });
    expectMessage(result, message, 2);
  });

  test("a missing input file, and broken JSON on the command line", async () => {
    const missing = await svc(runtime, ["run", "triage", "--data", "none.json"], { env: key });
    expectMessage(missing, /Cannot read none\.json: the file does not exist\./, 2);
    const broken = await svc(runtime, ["run", "triage", "--data", '{"a":1'], { env: key });
    expectMessage(broken, /Cannot read the given text: it is not JSON/, 2);
    const list = await svc(runtime, ["run", "triage", "--data", "[1]"], { env: key });
    expectMessage(list, /must be a JSON object; the given text contains an array\./, 2);
  });

  test("standard input that is not a JSON object", async () => {
    const result = await svc(runtime, ["run", "triage", "--data", "-"], { env: key, input: "7" });
    expectMessage(result, /standard input contains a number\./, 2);
  });
});
