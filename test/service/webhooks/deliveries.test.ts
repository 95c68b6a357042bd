import { createHmac, randomUUID } from "node:crypto";
import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import { first as firstRow } from "../../../server/store/engine.ts";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { type Answer, type CallOptions, call, ended, expectError, ok } from "../../support/rest.ts";
import type {
  AcceptedJson,
  DeliveryJson,
  DeliveryPage,
  ErrorJson,
  ExecutionPage,
  HealthJson,
  WebhookListJson,
} from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const project: ProjectSource = {
  agents: {
    echo: {
      code: "export default (input) => input;",
      webhooks: [
        { slug: "plain" },
        { slug: "own-id", idempotency: { header: "X-Delivery" } },
        { slug: "signed", signature: { scheme: "github", secret: "HUB" } },
        { slug: "slow", rate_limit: { requests_per_second: 1, burst: 3 } },
        { slug: "chat", signature: { scheme: "slack", secret: "CHAT" } },
        { slug: "standard", signature: { scheme: "standard", secret: "STANDARD" } },
        { slug: "shop", signature: { scheme: "shopify", secret: "HUB" } },
        { slug: "mapped", field_mapping: { "order.id": "id" } },
        { slug: "full" },
      ],
    },
    fail: {
      code: "export default () => { throw new Error('no'); };",
      webhooks: [{ slug: "again" }, { slug: "once", idempotency: { after_failure: "replay" } }],
    },
    wait: {
      code: `export default (_input, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));`,
      webhooks: [{ slug: "hub", signature: { scheme: "github", secret: "HUB" } }],
    },
  },
};

const standardSecret = `whsec_${Buffer.from("a secret of the standard sender").toString("base64")}`;

onRuntime("bun", "deliveries", {}, (server) => {
  let org = "";
  beforeAll(async () => {
    await ok(server, "PUT", "/api/v1/secrets/HUB", { json: { value: "first-secret" } });
    await ok(server, "PUT", "/api/v1/secrets/STANDARD", { json: { value: standardSecret } });
    await deploy(server, project);
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });

  const post = <T = AcceptedJson>(slug: string, options: CallOptions): Promise<Answer<T>> =>
    call<T>(server, "POST", `/webhook/${org}/agent/echo/${slug}`, { key: null, ...options });
  const stored = async () =>
    (await ok<ExecutionPage>(server, "GET", "/api/v1/executions?page_size=1000&view=full")).executions;
  const path = "/api/v1/webhooks/deliveries";
  const list = (query: string) => ok<DeliveryPage>(server, "GET", `${path}?${query}`);
  const deliveries = async (slug: string) => (await list(`slug=${slug}&page_size=1000`)).deliveries;
  const deliveryOf = async (slug: string, executionId: string) => {
    const found = (await deliveries(slug)).find(({ execution_id }) => execution_id === executionId);
    if (found === undefined) throw new Error(`Execution ${executionId} is not listed as a delivery.`);
    return found;
  };

  describe("an idempotency key", () => {
    test("runs repeats once, also concurrent ones and across a restart", async () => {
      const key = randomUUID();
      const send = (body: string) => post("plain", { body, headers: { "idempotency-key": key } });
      const answers = await Promise.all(Array.from({ length: 20 }, () => send('{"n":1}')));
      expect(new Set(answers.map(({ status, json }) => `${status} ${json.execution_id}`)).size).toBe(1);
      const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
      expect(replayed.length).toBe(19);
      const id = answers[0]?.json.execution_id ?? "";
      await ended(server, id);
      await server.restart("SIGKILL");
      const later = await send('{"n":1}');
      expect([later.status, later.json, later.headers.get("idempotent-replayed")]).toEqual([
        202,
        { execution_id: id, status: "succeeded" },
        "true",
      ]);
      const waiting = await post("plain", {
        body: '{"n":1}',
        headers: { "idempotency-key": key, prefer: "wait=5" },
      });
      expect([waiting.status, waiting.json.output]).toEqual([200, { n: 1 }]);
      expectError(await send('{"n":2}'), 422, "invalid_argument", /another body|different body/i);
      expect((await stored()).filter(({ input }) => JSON.stringify(input) === '{"n":1}').length).toBe(1);
    });

    test("runs again after its execution failed, unless the webhook replays failures", async () => {
      const headers = { "idempotency-key": randomUUID() };
      const send = (slug: string, body = "{}") =>
        call<AcceptedJson>(server, "POST", `/webhook/${org}/agent/fail/${slug}`, {
          key: null,
          body,
          headers,
        });
      const ids: string[] = [];
      for (const slug of ["again", "again", "once", "once"]) {
        const { json } = await send(slug);
        ids.push(json.execution_id);
        await ended(server, json.execution_id);
      }
      expect(new Set(ids.slice(0, 2)).size).toBe(2);
      expect(ids[3]).toBe(ids[2]);
      const replayed = await send("once");
      expect([replayed.json.status, replayed.headers.get("idempotent-replayed")]).toEqual(["failed", "true"]);
      expectError(await send("again", '{"n":1}'), 422, "invalid_argument", /another body/);
    });

    test("of a cancelled execution runs again once for concurrent repeats", async () => {
      const body = '{"action":"opened"}';
      const headers = {
        "x-hub-signature-256": await sign("first-secret", body),
        "x-github-delivery": randomUUID(),
      };
      const send = () =>
        call<AcceptedJson>(server, "POST", `/webhook/${org}/agent/wait/hub`, { key: null, body, headers });
      const first = (await send()).json.execution_id;
      expect((await send()).json.execution_id).toBe(first);
      await ok(server, "POST", `/api/v1/executions/${first}/cancel`, { json: {} });
      await ended(server, first);
      const answers = await Promise.all(Array.from({ length: 20 }, send));
      const ids = new Set(answers.map(({ json }) => json.execution_id));
      expect([ids.size, ids.has(first)]).toEqual([1, false]);
      const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
      expect(replayed.length).toBe(19);
      const [second = ""] = ids;
      await ok(server, "POST", `/api/v1/executions/${second}/cancel`, { json: {} });
      await ended(server, second);
    });

    test("applies to one webhook, and must be valid", async () => {
      const headers = { "idempotency-key": randomUUID() };
      const [one, other] = [
        await post("plain", { body: "{}", headers }),
        await post("own-id", { body: "{}", headers }),
      ];
      expect(one.json.execution_id).not.toBe(other.json.execution_id);
      const bad = await post("plain", { body: "{}", headers: { "idempotency-key": "x".repeat(256) } });
      expectError(bad, 400, "invalid_argument", /255 visible/);
    });

    test("is read from the header that the project configures", async () => {
      const headers = { "x-delivery": randomUUID() };
      const [one, again] = [
        await post("own-id", { body: "{}", headers }),
        await post("own-id", { body: "{}", headers }),
      ];
      expect(again.json.execution_id).toBe(one.json.execution_id);
      const elsewhere = [
        await post("plain", { body: "{}", headers }),
        await post("plain", { body: "{}", headers }),
      ];
      expect(elsewhere[0]?.json.execution_id).not.toBe(elsewhere[1]?.json.execution_id);
    });
  });

  describe("a signed webhook", () => {
    const body = '{"action":"opened", "n" : 1.0}';

    test("accepts requests signed by the sender's library", async () => {
      const headers = {
        "x-hub-signature-256": await sign("first-secret", body),
        "x-github-delivery": randomUUID(),
      };
      const answer = await post("signed", { body, headers });
      expect(answer.status).toBe(202);
      expect((await ended(server, answer.json.execution_id)).output).toEqual({ action: "opened", n: 1 });
      const again = await post("signed", { body, headers });
      expect([again.json.execution_id, again.headers.get("idempotent-replayed")]).toEqual([
        answer.json.execution_id,
        "true",
      ]);
    });

    test("ignores unsigned keys where the signature covers the delivery id", async () => {
      const sentAt = new Date();
      const signed = (id: string) => ({
        "webhook-id": id,
        "webhook-timestamp": `${Math.floor(sentAt.getTime() / 1000)}`,
        "webhook-signature": new Webhook(standardSecret).sign(id, sentAt, body),
      });
      const key = randomUUID();
      const send = (id: string, key: string) =>
        post("standard", { body, headers: { ...signed(id), "idempotency-key": key } });
      const first = await send("msg_1", key);
      expect(first.status).toBe(202);
      const replay = await send("msg_1", randomUUID());
      expect([replay.json.execution_id, replay.headers.get("idempotent-replayed")]).toEqual([
        first.json.execution_id,
        "true",
      ]);
      const next = await send("msg_2", key);
      expect(next.json.execution_id).not.toBe(first.json.execution_id);
      // An unsigned header that cannot be a key does not matter either.
      expect((await send("msg_3", "x".repeat(300))).status).toBe(202);
    });

    test.each([
      ["signed", "x-hub-signature-256", "x-github-delivery", async () => sign("first-secret", body)],
      ["shop", "x-shopify-hmac-sha256", "x-shopify-webhook-id", async () => shopifySignature(body)],
    ])("keeps the delivery id of '%s' for the whole retention", async (slug, name, idName, signature) => {
      const id = randomUUID();
      const send = async (sent: string, key: string) =>
        post(slug, {
          body: sent,
          headers: { [name]: await signature(), [idName]: id, "idempotency-key": key },
        });
      const first = await send(body, randomUUID());
      const again = await send(body, randomUUID());
      expect([again.status, again.json.execution_id]).toEqual([202, first.json.execution_id]);
      const engine = await server.openStore();
      const row = await engine.read(() =>
        firstRow<{ expires_at: number }>("SELECT expires_at FROM idempotency WHERE key = ?1", id),
      );
      await engine.close();
      const days = (Number(row?.expires_at) - Date.now()) / 86_400_000;
      expect(days).toBeGreaterThan(29.9);
      expect(days).toBeLessThanOrEqual(30);
    });

    test("refuses a repeated delivery id with another body", async () => {
      const id = randomUUID();
      const send = (sent: string) =>
        post("shop", {
          body: sent,
          headers: { "x-shopify-hmac-sha256": shopifySignature(sent), "x-shopify-webhook-id": id },
        });
      expect((await send('{"n":1}')).status).toBe(202);
      expectError(await send('{"n":2}'), 422, "invalid_argument", /another body/);
    });

    test("refuses a missing or wrong signature, and records the request", async () => {
      const before = (await stored()).length;
      const signature = await sign("first-secret", body);
      const refused: Record<string, string>[] = [
        {},
        { "x-hub-signature-256": await sign("other-secret", body) },
        { "x-hub-signature-256": await sign("first-secret", `${body} `) },
        { "x-hub-signature-256": signature.replace(/.$/, (end) => (end === "0" ? "1" : "0")) },
        { "x-hub-signature-256": signature.slice("sha256=".length) },
        { "x-hub-signature": signature },
      ];
      for (const headers of refused) {
        expectError(await post("signed", { body, headers }), 401, "unauthenticated", /signature/i);
      }
      expectError(await post("signed", { body: "[" }), 401, "unauthenticated", /signature/i);
      expect((await stored()).length).toBe(before);
      const recorded = (await deliveries("signed")).filter(({ outcome }) => outcome === "rejected");
      expect(recorded.length).toBe(refused.length + 1);
      expect(new Set(recorded.map(({ http_status }) => http_status))).toEqual(new Set([401]));
      expect(JSON.stringify(recorded)).not.toContain(signature);
    });

    test("uses a changed secret at once, and refuses requests without one", async () => {
      await ok(server, "PUT", "/api/v1/secrets/HUB", { json: { value: "second-secret" } });
      const old = await post("signed", {
        body,
        headers: { "x-hub-signature-256": await sign("first-secret", body) },
      });
      expect(old.status).toBe(401);
      const now = await post("signed", {
        body,
        headers: { "x-hub-signature-256": await sign("second-secret", body) },
      });
      expect(now.status).toBe(202);
      const challenge = { type: "url_verification", challenge: "c" };
      expect((await post("chat", { json: challenge })).status).toBe(401);
    });
  });

  describe("a rate limit", () => {
    test("refuses with Retry-After, and reports the remaining requests in each response", async () => {
      const left = async () => {
        const { agents } = await ok<WebhookListJson>(server, "GET", "/api/v1/webhooks/list");
        return agents.flatMap(({ webhooks }) => webhooks).find(({ slug }) => slug === "slow")?.rate_limit;
      };
      expect(await left()).toEqual({ requests_per_second: 1, burst: 3, remaining: 3 });
      const answers: Answer<AcceptedJson>[] = [];
      for (let count = 0; count < 4; count++) answers.push(await post("slow", { json: { count } }));
      expect((await left())?.remaining).toBeLessThan(3);
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429]);
      const refusal = answers[3] as unknown as Answer<ErrorJson>;
      expectError(refusal, 429, "resource_exhausted", /1 per second|rate/i);
      expect(refusal.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      for (const { headers } of answers) {
        expect(headers.get("ratelimit-policy")).toMatch(/;q=3/);
        expect(headers.get("ratelimit")).toMatch(/;r=\d+/);
      }
      expect((await post("plain", { json: {} })).status).toBe(202);
    });
  });

  describe("the list of deliveries", () => {
    test("shows an accepted request without credentials, and redelivers it", async () => {
      const headers = {
        authorization: "Bearer planted-credential",
        cookie: "planted=cookie",
        "x-kept": "yes",
      };
      const { json } = await post("plain", { json: { once: true }, headers });
      const found = await deliveryOf("plain", json.execution_id);
      expect(found).toMatchObject({ outcome: "accepted", http_status: 202, reason: "", size_bytes: "13" });
      const whole = await call<DeliveryJson>(server, "GET", `${path}/${found.delivery_id}`);
      expect(whole.json).toMatchObject({ payload: { once: true }, headers: { "x-kept": "yes" } });
      expect(whole.text).not.toContain("planted");
      const again = await ok<AcceptedJson>(server, "POST", `${path}/${found.delivery_id}/redeliver`, {
        json: {},
      });
      expect(again.execution_id).not.toBe(json.execution_id);
      expect((await ended(server, again.execution_id)).output).toEqual({ once: true });
    });

    test("keeps the payload as received when a mapping changes the input", async () => {
      const payload = { order: { id: 7 }, rest: [true] };
      const { json } = await post("mapped", { json: payload });
      expect((await ended(server, json.execution_id)).input).toEqual({ id: 7 });
      const { delivery_id } = await deliveryOf("mapped", json.execution_id);
      expect(await ok(server, "GET", `${path}/${delivery_id}`)).toMatchObject({ payload });
      const again = await ok<AcceptedJson>(server, "POST", `${path}/${delivery_id}/redeliver`, { json: {} });
      expect((await ended(server, again.execution_id)).output).toEqual({ id: 7 });
    });

    test("redelivers a rejected request when its payload was kept, and otherwise says why not", async () => {
      const redeliver = (id = "") =>
        call<AcceptedJson>(server, "POST", `${path}/${id}/redeliver`, { json: {} });
      const rejected = (await deliveries("slow")).find(({ http_status }) => http_status === 429);
      const accepted = await redeliver(rejected?.delivery_id);
      expect((await ended(server, accepted.json.execution_id)).output).toEqual({ count: 3 });
      await post("plain", { body: "[" });
      const [broken] = (await list("slug=plain&outcome=rejected&page_size=1")).deliveries;
      expectError(
        await redeliver(broken?.delivery_id),
        409,
        "failed_precondition",
        /its payload was not kept/,
      );
    });

    test("does not list an idempotent repeat", async () => {
      const before = (await deliveries("own-id")).length;
      const headers = { "x-delivery": randomUUID() };
      const first = await post("own-id", { body: "{}", headers });
      const second = await post("own-id", { body: "{}", headers });
      expect(second.headers.get("idempotent-replayed")).toBe("true");
      expect((await deliveries("own-id")).length).toBe(before + 1);
      expect((await deliveryOf("own-id", first.json.execution_id)).outcome).toBe("accepted");
    });

    test("keeps the newest 100 rejected requests of a webhook, and every accepted one", async () => {
      const accepted = await Promise.all(Array.from({ length: 20 }, () => post("full", { body: "{}" })));
      for (let sent = 0; sent < 130; sent += 65) {
        await Promise.all(Array.from({ length: 65 }, () => post("full", { body: "[" })));
      }
      const outcomes = (await deliveries("full")).map(({ outcome }) => outcome);
      expect(outcomes).toEqual([
        ...Array<string>(100).fill("rejected"),
        ...Array<string>(accepted.length).fill("accepted"),
      ]);
    });

    test("pages through both kinds, stable while requests arrive", async () => {
      const seen: string[] = [];
      const expected = (await deliveries("full")).map(({ delivery_id }) => delivery_id);
      let token = "";
      do {
        const page = await list(`slug=full&page_size=33&page_token=${token}`);
        seen.push(...page.deliveries.map(({ delivery_id }) => delivery_id));
        token = page.next_page_token;
        await post("full", { body: "{}" });
      } while (token !== "");
      expect(seen).toEqual(expected);
    });

    test("keeps those received at or after a time", async () => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      const since = new Date().toISOString();
      expect((await list(`slug=full&since=${since}`)).deliveries).toEqual([]);
      const { json } = await post("full", { body: "{}" });
      await post("full", { body: "[" });
      const found = (await list(`slug=full&since=${since}`)).deliveries;
      expect(found.map(({ outcome, execution_id }) => [outcome, execution_id])).toEqual([
        ["rejected", ""],
        ["accepted", json.execution_id],
      ]);
    });
  });
});

function shopifySignature(body: string): string {
  return createHmac("sha256", "first-secret").update(body).digest("base64");
}
