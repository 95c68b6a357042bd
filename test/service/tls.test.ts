import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, expect, test } from "vitest";
import { HealthService } from "../../proto/svc/v1/health_pb.ts";
import { createCertificates } from "../plugin/certificate.ts";
import { deploy } from "../support/project.ts";
import { exchange, head } from "../support/raw.ts";
import { call, runToEnd } from "../support/rest.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";
import { onEveryRuntime } from "../support/suite.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-tls-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { authority, certificate, key } = createCertificates(["localhost"]);
const [certFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
writeFileSync(certFile, certificate);
writeFileSync(keyFile, key);
const otherKey = join(folder, "other-key.pem");
writeFileSync(otherKey, createCertificates(["localhost"]).key);
// Not in addition to that of another test file in this process, which has the same name.
setDefaultCACertificates([...getCACertificates("bundled"), authority]);

const args = ["--host", "localhost", "--tls-cert", certFile, "--tls-key", keyFile];

onEveryRuntime("TLS", { args, env: { SVC_KEEP_ALIVE_SECONDS: "1" } }, (server) => {
  test("serves HTTP/1.1 and HTTP/2 on one port with ALPN", async () => {
    expect(server.url).toMatch(/^https:\/\/localhost:\d+$/);
    expect((await call(server, "GET", "/livez", { key: null })).json).toEqual({ status: "ok" });
    const interceptors = [
      (next: Parameters<NonNullable<Parameters<typeof createGrpcTransport>[0]["interceptors"]>[number]>[0]) =>
        (request: Parameters<typeof next>[0]) => {
          request.header.set("authorization", `Bearer ${server.apiKey}`);
          return next(request);
        },
    ];
    const baseUrl = server.url;
    for (const transport of [
      createGrpcTransport({ baseUrl, interceptors }),
      createConnectTransport({ baseUrl, interceptors, httpVersion: "1.1" }),
      createConnectTransport({ baseUrl, interceptors, httpVersion: "2" }),
    ]) {
      expect((await createClient(HealthService, transport).check({})).status).toBe("ok");
    }
  });

  test("sends PING frames to clients with open streams", async () => {
    const session = connect(server.url);
    const authorization = `Bearer ${server.apiKey}`;
    session.request({ ":path": "/api/v1/logs?follow=true&lines=0", authorization }).resume();
    await once(session, "ping");
    session.destroy();
  });

  test("accepts an upload, and returns https webhook URLs", async () => {
    const agents = { echo: { code: "export default (input) => input;", webhooks: [{ slug: "hook" }] } };
    const { webhooks } = await deploy(server, { agents });
    expect(webhooks[0]?.url).toMatch(/^https:\/\/localhost:\d+\/webhook\/org_/);
    const answer = await call<{ output: unknown }>(server, "POST", webhooks[0]?.url ?? "", {
      key: null,
      json: { a: 1 },
      headers: { prefer: "wait=20" },
    });
    expect(answer.json.output).toEqual({ a: 1 });
    expect((await runToEnd(server, "echo", { b: 2 })).output).toEqual({ b: 2 });
  });

  test("closes a connection without TLS, and keeps serving", async () => {
    const url = server.url.replace("https://localhost", "http://localhost");
    await expect(exchange({ url, apiKey: "" }, head("GET /livez"))).rejects.toThrow("without an answer");
    expect((await call(server, "GET", "/livez", { key: null })).status).toBe(200);
  });

  test("exits with 0 on SIGTERM", async () => {
    await call(server, "GET", "/livez", { key: null });
    expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await server.start();
  });

  const testOptions = test.runIf(commandRuntimes("bun").includes(server.runtime));
  testOptions("rejects a missing or invalid certificate or key with one line", async () => {
    for (const [given, message] of [
      [["--tls-cert", certFile], /--tls-cert and --tls-key must be given together/],
      [["--tls-cert", join(folder, "none.pem"), "--tls-key", keyFile], /none\.pem/],
      [
        ["--tls-cert", keyFile, "--tls-key", keyFile],
        /--tls-cert .*key\.pem does not hold a certificate in PEM/,
      ],
      [
        ["--tls-cert", certFile, "--tls-key", certFile],
        /--tls-key .*certificate\.pem does not hold an unencrypted private key/,
      ],
      [["--tls-cert", certFile, "--tls-key", otherKey], /does not match the certificate/],
    ] as const) {
      const other = new TestServer(server.runtime, { args: given });
      await expect(other.start()).rejects.toThrow(message);
      expect(other.output).not.toMatch(/^\s+at /m);
      await other.discard(false);
    }
  });
});
