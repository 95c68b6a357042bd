/** A server behind a proxy on loopback: every part that uses the address of a sender. */
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, expect, test } from "vitest";
import { HealthService } from "../../proto/svc/v1/health_pb.ts";
import { deploy } from "../support/project.ts";
import { exchange, head } from "../support/raw.ts";
import { call, ok } from "../support/rest.ts";
import type { HealthJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";

const env = {
  SVC_TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8",
  SVC_ORGANIZATION_RATE: "1",
  SVC_ORGANIZATION_BURST: "1",
  SVC_MAX_CONNECTIONS_PER_ADDRESS: "2",
};

onRuntime("bun", "the port behind a proxy", { env }, (server) => {
  const authorization = () => `Bearer ${server.apiKey}`;

  test("HTTP/1.1: the lines of a header count together, and the last address is the nearest", async () => {
    const lines = [
      "X-Forwarded-For: 1.1.1.1",
      "X-Forwarded-For: 203.0.113.9, 10.0.0.1",
      "Forwarded: for=2.2.2.2",
      'Forwarded: for="203.0.113.9:80"',
    ];
    const request = head("GET /health", { authorization: authorization() });
    const [answer] = await exchange(server, request.replace("\r\n\r\n", `\r\n${lines.join("\r\n")}\r\n\r\n`));
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({
      client_address: "203.0.113.9",
      proxy_ignored: false,
    });
  });

  test("HTTP/2: the lines of a header count together", async () => {
    const session = connectHttp2(server.url);
    const stream = session.request({
      ":path": "/health",
      authorization: authorization(),
      "x-forwarded-for": ["1.1.1.1", "203.0.113.9"],
      forwarded: ["for=2.2.2.2", "for=203.0.113.9"],
    } as never);
    const body = (await stream.toArray()).join("");
    session.close();
    expect(JSON.parse(body)).toMatchObject({ client_address: "203.0.113.9" });
  });

  test("gRPC: the address is that of X-Forwarded-For", async () => {
    const transport = createGrpcTransport({ baseUrl: server.url });
    const headers = { authorization: authorization(), "x-forwarded-for": "2001:db8:1::5" };
    const health = await createClient(HealthService, transport).check({}, { headers });
    expect(health.clientAddress).toBe("2001:db8:1::5");
  });

  test("the limit of connections from one address does not apply to a trusted proxy", async () => {
    const { port } = new URL(server.url);
    const sockets = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const socket = connect(Number(port), "127.0.0.1");
        socket.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const [first] = await socket.take(1).toArray();
        return { socket, first: String(first) };
      }),
    );
    for (const { socket, first } of sockets) {
      expect(first).toMatch(/^HTTP\/1\.1 200/);
      socket.destroy();
    }
  });

  test("the streams that a proxy resets do not end its session", async () => {
    const session = connectHttp2(server.url);
    await once(session, "remoteSettings");
    for (let round = 0; round < 6; round++) {
      const closed = Array.from({ length: 40 }, async () => {
        const stream = session.request({ ":path": "/livez" });
        stream.on("error", () => {}).close(constants.NGHTTP2_CANCEL);
        await once(stream, "close");
      });
      await Promise.all(closed);
      const body = await session.request({ ":path": "/livez" }).toArray();
      expect(body.join("")).toContain("ok");
    }
    session.close();
  });

  test.each([
    [
      "version 1",
      "PROXY TCP4 203.0.113.9 10.0.0.1 4711 80\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ["version 2", Buffer.from("0d0a0d0a000d0a515549540a2111000ccb0071090a0000011267005047455420", "hex")],
  ])("refuses the PROXY protocol, %s, with the advice to use the header", async (_version, bytes) => {
    const [answer] = await exchange(server, bytes);
    expect(answer?.status).toBe(400);
    expect(answer?.body).toMatch(/PROXY protocol is not supported.*SVC_TRUSTED_PROXIES/);
  });
});

onRuntime("node", "without trusted proxies", {}, (server) => {
  test("ignores the headers of proxies, and tells the caller", async () => {
    const headers = { "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" };
    const health = await call(server, "GET", "/health", { headers });
    expect(health.json).toMatchObject({ client_address: "127.0.0.1", proxy_ignored: true });
  });
});

onRuntime("node", "the parts behind a proxy", { env }, (server) => {
  let org = "";
  beforeAll(async () => {
    await deploy(server, {
      agents: {
        echo: {
          code: "export default (input) => input;",
          webhooks: [{ slug: "near", allow_from: ["203.0.113.0/24"] }],
        },
      },
    });
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });
  const trigger = (headers: Record<string, string>) =>
    call(server, "POST", `/webhook/${org}/agent/echo/near`, { key: null, json: {}, headers });

  test("allow_from compares the address of the sender, and refuses one that is unknown", async () => {
    expect((await trigger({ "x-forwarded-for": "203.0.113.1" })).status).toBe(202);
    const refused: Record<string, string>[] = [
      { "x-forwarded-for": "198.51.100.1" },
      { "x-forwarded-for": "203.0.113.1, 198.51.100.1" },
      { "x-forwarded-for": "198.51.100.1", forwarded: "for=203.0.113.1" },
      { "x-forwarded-for": "203.0.113.1, unknown" },
      {},
    ];
    for (const headers of refused) expect((await trigger(headers)).status).toBe(403);
  });

  test("limits the requests of each sender, not of the proxy", async () => {
    const statuses = async (address: string) => {
      const all = Array.from({ length: 30 }, () => trigger({ "x-forwarded-for": address }));
      return (await Promise.all(all)).map(
        ({ status, text }) => `${status} ${/for this \w+/.exec(text)?.[0] ?? ""}`,
      );
    };
    // The limit of the organization also refuses; the one of the sender is four times as high.
    expect(await statuses("203.0.113.77")).toContain("429 for this sender");
    expect(await statuses("203.0.113.78")).not.toEqual(Array(30).fill("429 for this sender"));
  });

  test("the audit log has the address of the caller", async () => {
    const headers = { "x-forwarded-for": "203.0.113.55" };
    await ok(server, "PUT", "/api/v1/secrets/SEEN", { json: { value: "x" }, headers });
    const { text } = await call(server, "GET", "/api/v1/logs?audit=true");
    expect(text).toMatch(/secret\.set: secret 'SEEN', by key '.*' \(key_\w+\) from 203\.0\.113\.55"/);
  });

  test("X-Forwarded-Host and X-Forwarded-Proto do not change the public URL", async () => {
    const headers = {
      "x-forwarded-for": "203.0.113.9",
      "x-forwarded-host": "evil.example.com",
      "x-forwarded-proto": "https",
    };
    const { text } = await call(server, "GET", "/api/v1/webhooks/list", { headers });
    expect(text).toContain(`${server.url}/webhook/`);
    expect(text).not.toContain("evil");
  });
});
