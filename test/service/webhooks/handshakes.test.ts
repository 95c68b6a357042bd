/** The exchanges by which senders check a URL: they are deliveries and start no execution. */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { call, expectError, ok } from "../../support/rest.ts";
import type { DeliveryPage, ExecutionPage, HealthJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const signature = (scheme: string) => ({ scheme, secret: scheme.toUpperCase() });

const project: ProjectSource = {
  agents: {
    echo: {
      code: "export default (input) => input;",
      webhooks: [
        { slug: "plain" },
        { slug: "slack", signature: signature("slack") },
        { slug: "off", signature: signature("slack"), handshake: "none" },
        { slug: "meta", signature: signature("meta"), handshake: { kind: "meta", secret: "VERIFY" } },
        { slug: "zoom", signature: signature("zoom") },
        { slug: "microsoft", signature: signature("microsoft") },
        { slug: "discord", signature: signature("discord") },
        { slug: "dropbox", signature: signature("dropbox") },
        { slug: "trello", signature: signature("trello") },
        { slug: "events", handshake: "cloudevents", rate_limit: { requests_per_second: 2 } },
        { slug: "grid", handshake: "eventgrid" },
        { slug: "websub", handshake: { kind: "websub" } },
      ],
    },
  },
};

const discordKeys = generateKeyPairSync("ed25519");
const publicKey = Buffer.from(discordKeys.publicKey.export({ format: "jwk" }).x ?? "", "base64url");

onRuntime("bun", "handshakes", {}, (server) => {
  let org = "";
  beforeAll(async () => {
    const secrets = { VERIFY: "verify-me", DISCORD: publicKey.toString("hex") };
    for (const name of ["SLACK", "META", "ZOOM", "MICROSOFT", "DROPBOX", "TRELLO"]) {
      await ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value: `${name}-secret` } });
    }
    for (const [name, value] of Object.entries(secrets)) {
      await ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value } });
    }
    await deploy(server, project);
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });

  const seconds = () => Math.floor(Date.now() / 1000);
  const hmac = (name: string, text: string) =>
    createHmac("sha256", `${name}-secret`).update(text).digest("hex");
  const path = (slug: string, query = "") => `/webhook/${org}/agent/echo/${slug}${query}`;
  const get = (slug: string, query = "", method = "GET", headers = {}) =>
    call(server, method, path(slug, query), { key: null, headers });
  const post = (slug: string, body: string, headers = {}, query = "") =>
    call<Record<string, unknown>>(server, "POST", path(slug, query), { key: null, body, headers });
  const outcomes = async (slug: string) => {
    const query = `slug=${slug}&page_size=100`;
    const page = await ok<DeliveryPage>(server, "GET", `/api/v1/webhooks/deliveries?${query}`);
    return page.deliveries.map(({ outcome, http_status }) => [outcome, http_status]);
  };
  const signed = {
    slack: (body: string) => ({
      "x-slack-request-timestamp": `${seconds()}`,
      "x-slack-signature": `v0=${hmac("SLACK", `v0:${seconds()}:${body}`)}`,
    }),
    zoom: (body: string) => ({
      "x-zm-request-timestamp": `${seconds()}`,
      "x-zm-signature": `v0=${hmac("ZOOM", `v0:${seconds()}:${body}`)}`,
    }),
    discord: (body: string) => ({
      "x-signature-timestamp": `${seconds()}`,
      "x-signature-ed25519": sign(null, Buffer.from(`${seconds()}${body}`), discordKeys.privateKey).toString(
        "hex",
      ),
    }),
  };

  test("Slack: url_verification", async () => {
    const body = '{"type":"url_verification","challenge":"<3eZ>"}';
    const answer = await post("slack", body, signed.slack(body));
    expect([answer.status, answer.text]).toEqual([200, "<3eZ>"]);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    expect((await post("slack", body)).status).toBe(401);
    expect((await post("off", body, signed.slack(body))).status).toBe(202);
    expect(await outcomes("slack")).toEqual([
      ["rejected", 401],
      ["handshake", 200],
    ]);
  });

  test("Meta: hub.challenge", async () => {
    const query = "?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=";
    const answer = await get("meta", `${query}verify-me`);
    expect([answer.status, answer.text]).toEqual([200, "1158201444"]);
    expectError(await get("meta", `${query}other`), 403, "permission_denied", /handshake/);
    expectError(await get("meta"), 405, "unimplemented", /POST/);
    expect(await outcomes("meta")).toEqual([
      ["rejected", 403],
      ["handshake", 200],
    ]);
  });

  test("Zoom: endpoint.url_validation", async () => {
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8"},"event_ts":1}';
    expect((await post("zoom", body, signed.zoom(body))).json).toEqual({
      plainToken: "qgg8",
      encryptedToken: hmac("ZOOM", "qgg8"),
    });
    const event = '{"event":"meeting.started","payload":{}}';
    expect((await post("zoom", event, signed.zoom(event))).status).toBe(202);
    expect((await post("zoom", body)).status).toBe(401);
  });

  test("Microsoft Graph: validationToken", async () => {
    const answer = await post(
      "microsoft",
      "",
      { "content-type": "text/plain" },
      "?validationToken=a%20%3Cb%3E",
    );
    expect([answer.status, answer.text]).toEqual([200, "a <b>"]);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await post("microsoft", '{"value":[{"clientState":"MICROSOFT-secret"}]}')).status).toBe(202);
    expect((await post("microsoft", '{"value":[{"clientState":"x"}]}')).status).toBe(401);
  });

  test("Discord: PING", async () => {
    const send = (body: string) => post("discord", body, signed.discord(body));
    expect((await send('{"id":"1","type":1}')).json).toEqual({ type: 1 });
    expect((await send('{"version":1,"type":0}')).status).toBe(204);
    expect((await send('{"version":1,"type":1,"event":{"type":"A"}}')).status).toBe(202);
    expect((await send('{"id":"2","type":2}')).status).toBe(202);
    expect((await post("discord", '{"id":"1","type":1}')).status).toBe(401);
  });

  test("Dropbox, Trello and WebSub", async () => {
    expect((await get("dropbox", "?challenge=abc")).text).toBe("abc");
    expect((await get("trello", "", "HEAD")).status).toBe(200);
    expect((await get("trello")).status).toBe(405);
    const topic = "&hub.topic=https%3A%2F%2Fexample.com%2Ffeed&hub.challenge=xyz";
    expect((await get("websub", `?hub.mode=subscribe${topic}`)).text).toBe("xyz");
    expect((await get("websub", `?hub.mode=unsubscribe${topic}`)).status).toBe(405);
  });

  test("CloudEvents and Event Grid", async () => {
    const origin = { "webhook-request-origin": "eventemitter.example.com", "webhook-request-rate": "120" };
    for (const [slug, rate] of [
      ["events", "120"],
      ["grid", "*"],
    ] as const) {
      const answer = await get(slug, "", "OPTIONS", origin);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("webhook-allowed-origin")).toBe("eventemitter.example.com");
      expect(answer.headers.get("webhook-allowed-rate")).toBe(rate);
    }
    expect((await get("events", "", "OPTIONS")).status).toBe(405);
    const eventType = "Microsoft.EventGrid.SubscriptionValidationEvent";
    const validation = JSON.stringify([{ id: "1", eventType, data: { validationCode: "512d38b6" } }]);
    expect((await post("grid", validation)).json).toEqual({ validationResponse: "512d38b6" });
    expect((await post("grid", '[{"id":"2","eventType":"Other"}]')).status).toBe(202);
  });

  test("other webhooks answer as URLs without a webhook", async () => {
    const query = "?hub.mode=subscribe&hub.challenge=1&challenge=1&validationToken=1";
    const [there, not] = [await get("plain", query), await get("none", query)];
    expect([there.status, there.text]).toEqual([not.status, not.text]);
    expect(there.status).toBe(405);
    expect((await get("plain", "", "OPTIONS", { "webhook-request-origin": "a" })).status).toBe(405);
  });

  describe("the records", () => {
    test("are deliveries with the outcome handshake, and no executions", async () => {
      const page = await ok<DeliveryPage>(
        server,
        "GET",
        "/api/v1/webhooks/deliveries?outcome=handshake&page_size=100",
      );
      expect(page.deliveries.length).toBe(12);
      const { executions } = await ok<ExecutionPage>(server, "GET", "/api/v1/executions?page_size=100");
      expect(executions.length).toBe(6);
    });
  });
});
