/** Requests of senders with their own forms, from the socket to the agent, on a server that fetches nothing from outside. */
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { type RunningServer, startServer } from "../../server/server.ts";
import { deploy, type ProjectSource } from "../support/project.ts";
import { call, ended, ok } from "../support/rest.ts";
import type { AcceptedJson, DeliveryPage, HealthJson } from "../support/shapes.ts";
import {
  certificate,
  certificateUrl,
  type Fields,
  host,
  message,
  subscribeUrl,
  topic,
} from "./sns-messages.ts";

const project: ProjectSource = {
  agents: {
    echo: {
      code: "export default (input) => input;",
      webhooks: [
        { slug: "sns", signature: { scheme: "sns", topic } },
        { slug: "sns-off", signature: { scheme: "sns", topic }, handshake: "none" },
        { slug: "not-sns", handshake: "sns" },
        { slug: "asana", signature: { scheme: "asana", secret: "KEY" } },
        {
          slug: "google",
          signature: { scheme: "google", secret: "KEY" },
          field_mapping: { "$header.x-goog-resource-state": "state" },
        },
        { slug: "plain" },
        { slug: "stripe", signature: { scheme: "stripe", secret: "KEY" } },
        { slug: "typeform", signature: { scheme: "typeform", secret: "KEY" } },
        { slug: "trello", signature: { scheme: "trello", secret: "KEY" } },
      ],
    },
  },
};

const dataDir = mkdtempSync(join(tmpdir(), "svc-requests-"));
const fetched: string[] = [];
/** The answers to the URLs that the server fetches. */
const pages = new Map([
  [certificateUrl, { status: 200, body: certificate() }],
  [subscribeUrl, { status: 200, body: "<ConfirmSubscriptionResponse/>" }],
]);
let server: RunningServer;
let caller = { url: "", apiKey: "" };
let org = "";

beforeAll(async () => {
  const config = loadConfig({ port: 0, dataDir }, { SVC_SANDBOX: "none" });
  server = await startServer(config, {
    fetchUrl: async (url) => {
      fetched.push(url);
      return pages.get(url) ?? { status: 403, body: "" };
    },
  });
  let apiKey = "";
  await server.open((key) => {
    apiKey = key;
  });
  caller = { url: server.url, apiKey };
  await ok(caller, "PUT", "/api/v1/secrets/KEY", { json: { value: "s3cret" } });
  await deploy(caller, project);
  org = (await ok<HealthJson>(caller, "GET", "/health")).organization;
});
afterAll(async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const send = (slug: string, body: string, headers: Record<string, string> = {}, method = "POST") =>
  call<AcceptedJson>(caller, method, `/webhook/${org}/agent/echo/${slug}`, {
    key: null,
    ...(method === "POST" && { body }),
    headers,
  });
const sendSns = (fields: Fields, slug = "sns", headers = {}) =>
  send(slug, JSON.stringify(fields), {
    "content-type": "text/plain; charset=UTF-8",
    "x-amz-sns-message-type": String(fields.Type),
    ...headers,
  });
const outcomes = async (slug: string) => {
  const page = await ok<DeliveryPage>(
    caller,
    "GET",
    `/api/v1/webhooks/deliveries?slug=${slug}&page_size=100`,
  );
  return page.deliveries.map(({ outcome, http_status }) => `${outcome} ${http_status}`);
};
const hmac = (text: string, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", "s3cret").update(text).digest(encoding);

describe("Amazon SNS", () => {
  test("a notification starts one execution, whatever the content type of its repetitions", async () => {
    const notification = message({ MessageId: "n1" });
    const first = await sendSns(notification);
    expect(first.status, first.text).toBe(202);
    const { output } = await ended(caller, first.json.execution_id);
    expect(output).toMatchObject({ Message: '{"order":"größe"}', TopicArn: topic });
    for (const headers of [
      { "content-type": "application/json" },
      { "content-type": "text/plain", "x-amz-sns-message-type": "" },
      { "content-type": "application/x-www-form-urlencoded" },
      { "ce-specversion": "1.0", "ce-id": "x", "ce-source": "x", "ce-type": "x" },
    ]) {
      const again = await sendSns(notification, "sns", headers);
      expect(again.headers.get("idempotent-replayed"), JSON.stringify(headers)).toBe("true");
    }
  });

  test("an altered notification and one of another topic are refused", async () => {
    expect((await sendSns({ ...message({ MessageId: "n2" }), Message: "x" })).status).toBe(401);
    expect((await sendSns(message({ TopicArn: `${topic}2` }))).status).toBe(401);
  });

  test("a subscription is confirmed at Amazon, once its signature is verified", async () => {
    const confirmation = message({ Type: "SubscriptionConfirmation", MessageId: "s1" });
    fetched.length = 0;
    expect((await sendSns({ ...confirmation, Token: "forged" })).status).toBe(401);
    const elsewhere = { ...confirmation, SigningCertURL: "https://example.com/a.pem" };
    expect((await sendSns(elsewhere)).status).toBe(401);
    expect(fetched).toEqual([]);
    expect((await sendSns(confirmation)).status).toBe(200);
    expect(fetched).toEqual([subscribeUrl]);
    expect((await sendSns(confirmation, "sns-off")).status).toBe(202);
    expect((await sendSns(confirmation, "not-sns")).status).toBe(202);
    expect(fetched).toEqual([subscribeUrl]);
  });

  test("a subscription that Amazon does not confirm is answered with 503, so that it is sent again", async () => {
    const refused = `${host}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=expired`;
    const confirmation = message({
      Type: "SubscriptionConfirmation",
      SubscribeURL: refused,
      Token: "expired",
    });
    const answer = await sendSns(confirmation);
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("answered with 403")]);
    const away = message({ Type: "SubscriptionConfirmation", SubscribeURL: "https://example.com/" });
    expect((await sendSns(away)).status).toBe(403);
    const gone = message({ SigningCertURL: `${host}/gone.pem` });
    expect((await sendSns(gone)).status).toBe(503);
  });

  test("an UnsubscribeConfirmation is recorded and not visited", async () => {
    fetched.length = 0;
    expect((await sendSns(message({ Type: "UnsubscribeConfirmation" }))).status).toBe(200);
    expect(fetched).toEqual([]);
    expect((await outcomes("sns")).filter((each) => each === "handshake 200").length).toBe(2);
  });
});

describe("Asana", () => {
  test("the handshake repeats the secret, and events are signed with it", async () => {
    const answer = await send("asana", "", { "x-hook-secret": "b537207f20cbfa02" });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(answer.headers.get("x-hook-secret")).toBe("b537207f20cbfa02");
    const events = '{"events":[{"action":"added"}]}';
    expect((await send("asana", events, { "x-hook-signature": hmac(events) })).status).toBe(202);
    expect((await send("asana", events, { "x-hook-signature": hmac(`${events} `) })).status).toBe(401);
    expect((await send("asana", events)).status).toBe(401);
    const other = await send("plain", "{}", { "x-hook-secret": "b537207f20cbfa02" });
    expect(other.headers.get("x-hook-secret")).toBeNull();
    expect((await outcomes("asana")).sort()).toEqual([
      "accepted 202",
      "handshake 200",
      "rejected 401",
      "rejected 401",
    ]);
  });
});

describe("Google", () => {
  const headers = {
    "content-type": "application/json; utf-8",
    "x-goog-channel-id": "4ba78bf0",
    "x-goog-message-number": "10",
    "x-goog-resource-state": "update",
    "x-goog-channel-token": "s3cret",
  };

  test("a push notification without a body reaches the agent", async () => {
    const answer = await send("google", "", headers);
    expect(answer.status, answer.text).toBe(202);
    expect((await ended(caller, answer.json.execution_id)).output).toEqual({ state: "update" });
    expect((await send("google", "", headers)).headers.get("idempotent-replayed")).toBe("true");
    expect((await send("google", "", { ...headers, "x-goog-channel-token": "x" })).status).toBe(401);
    const plain = await send("google", "", {
      ...headers,
      "content-type": "application/json",
      "x-goog-message-number": "11",
    });
    expect(plain.status).toBe(202);
    expect((await send("plain", "", { "content-type": "application/json" })).status).toBe(400);
  });
});

describe("a signed delivery id", () => {
  test("is read from the signed body, not from unsigned headers", async () => {
    const stripe = '{"id":"evt_1","type":"a"}';
    const seconds = Math.floor(Date.now() / 1000);
    const signed = { "stripe-signature": `t=${seconds},v1=${hmac(`${seconds}.${stripe}`)}` };
    const form = '{"event_id":"f1"}';
    const typeform = { "typeform-signature": `sha256=${hmac(form, "base64")}` };
    for (const [slug, body, headers] of [
      ["stripe", stripe, signed],
      ["typeform", form, typeform],
    ] as const) {
      expect((await send(slug, body, headers)).status).toBe(202);
      const unsigned: Record<string, string>[] = [
        { "ce-specversion": "1.0", "ce-id": "evt_2", "ce-source": "x", "ce-type": "x" },
        { "content-type": "text/plain" },
        { "content-type": "application/x-www-form-urlencoded" },
      ];
      for (const more of unsigned) {
        const again = await send(slug, body, { ...headers, ...more });
        expect(again.headers.get("idempotent-replayed"), `${slug} ${JSON.stringify(more)}`).toBe("true");
      }
    }
  });
});

describe("the forms of bodies", () => {
  test.each([
    ["an array", "application/json", '[{"event":"open"}]', { payload: [{ event: "open" }] }],
    ["text/json", "text/json", '{"a":1}', { a: 1 }],
    ["no content type", "", '{"a":1}', { a: 1 }],
    ["an empty body without a content type", "", "", {}],
  ])("%s", async (_title, type, body, input) => {
    const answer = await send("plain", body, { "content-type": type });
    expect(answer.status, answer.text).toBe(202);
    expect((await ended(caller, answer.json.execution_id)).output).toEqual(input);
  });

  test("Trello's HEAD is answered with 200", async () => {
    expect((await send("trello", "", {}, "HEAD")).status).toBe(200);
  });
});
