/** Filters and methods of webhooks, and rejected requests that are kept, from the socket to the delivery log. */
import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { call, ok } from "../../support/rest.ts";
import type {
  AcceptedJson,
  DeliveryJson,
  DeliveryPage,
  ExecutionPage,
  HealthJson,
} from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const github = { scheme: "github", secret: "HUB" };
const project: ProjectSource = {
  agents: {
    echo: {
      code: "export default (input) => input;",
      webhooks: [
        { slug: "hub", signature: github, events: ["issues.opened", "push"] },
        { slug: "when", when: { kind: ["a", "b"], "$query.team": { not: "x" } }, respond: 200 },
        { slug: "many", event: "type", events: ["wanted"], rate_limit: { requests_per_second: 1000 } },
        { slug: "get", methods: ["GET", "POST"], field_mapping: { name: "name", "$query.tag": "tags" } },
        { slug: "get-only", methods: ["GET"], event: "$query.type", events: ["a"] },
        { slug: "get-page", methods: ["GET"], respond: "output" },
        {
          slug: "get-token",
          methods: ["GET"],
          signature: { scheme: "token", secret: "HUB", header: "x-token" },
        },
        { slug: "get-raw", methods: ["GET"], raw: true },
        { slug: "keep", signature: github, keep_rejected: true, field_mapping: { "$query.a": "a", n: "n" } },
        { slug: "forget", signature: github },
        { slug: "slow", event: "type", events: ["a"], rate_limit: { requests_per_second: 1, burst: 1 } },
      ],
    },
  },
};

onRuntime("node", "webhook filters", {}, (server) => {
  let org = "";
  beforeAll(async () => {
    await ok(server, "PUT", "/api/v1/secrets/HUB", { json: { value: "hub-secret" } });
    await deploy(server, project);
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });

  const send = (slug: string, body: string, headers = {}, query = "") =>
    call<AcceptedJson>(server, "POST", `/webhook/${org}/agent/echo/${slug}${query}`, {
      key: null,
      body,
      headers,
    });
  const sign = (body: string) => ({
    "x-hub-signature-256": `sha256=${createHmac("sha256", "hub-secret").update(body).digest("hex")}`,
  });
  const deliveries = async (slug: string) =>
    (await ok<DeliveryPage>(server, "GET", `/api/v1/webhooks/deliveries?slug=${slug}&page_size=1000`))
      .deliveries;
  const delivery = (id: string) => ok<DeliveryJson>(server, "GET", `/api/v1/webhooks/deliveries/${id}`);
  const redeliver = (id: string) =>
    call<AcceptedJson>(server, "POST", `/api/v1/webhooks/deliveries/${id}/redeliver`, {
      json: {},
      headers: { prefer: "wait=30" },
    });

  describe("a filter by event", () => {
    const opened = '{"action":"opened"}';
    const closed = '{"action":"closed"}';

    test("starts executions for the listed events only", async () => {
      const accepted = await send("hub", opened, { ...sign(opened), "x-github-event": "issues" });
      expect([accepted.status, accepted.json.status]).toEqual([202, "queued"]);
      const ignored = await send("hub", closed, { ...sign(closed), "x-github-event": "issues" });
      expect([ignored.status, ignored.json]).toEqual([202, { status: "ignored" }]);
      expect(ignored.headers.get("location")).toBeNull();
      const ping = await send("hub", "{}", { ...sign("{}"), "x-github-event": "ping" });
      expect(ping.json).toEqual({ status: "ignored" });
      const { executions } = await ok<ExecutionPage>(server, "GET", "/api/v1/executions?page_size=1000");
      expect(executions.map(({ execution_id }) => execution_id)).toEqual([accepted.json.execution_id]);
    });

    test("verifies the signature first", async () => {
      const forged = await send("hub", closed, { ...sign(opened), "x-github-event": "ping" });
      expect(forged.status).toBe(401);
    });

    test("lists ignored requests with the reason, and redelivers them without the filter", async () => {
      const [ping] = (await deliveries("hub")).filter(({ reason }) => reason.includes("ping"));
      expect(ping).toMatchObject({
        outcome: "ignored",
        http_status: 202,
        reason: "The event ping is not in events.",
        execution_id: "",
      });
      expect((await delivery(ping?.delivery_id ?? "")).payload).toEqual({});
      const again = await redeliver(ping?.delivery_id ?? "");
      expect([again.status, again.json.output], again.text).toEqual([200, {}]);
      const filtered = await ok<DeliveryPage>(
        server,
        "GET",
        "/api/v1/webhooks/deliveries?outcome=ignored&slug=hub",
      );
      expect(filtered.deliveries.map(({ outcome }) => outcome)).toEqual(["ignored", "ignored"]);
    });

    test("keeps the newest 100 ignored requests", async () => {
      const types = Array.from({ length: 110 }, (_, index) => `type-${index}`);
      for (let at = 0; at < types.length; at += 10) {
        const some = types.slice(at, at + 10);
        await Promise.all(some.map((type) => send("many", JSON.stringify({ type }))));
      }
      const kept = await deliveries("many");
      expect(kept.length).toBe(100);
      expect(kept.some(({ reason }) => reason.includes("type-109"))).toBe(true);
      expect(kept.some(({ reason }) => reason.includes("type-5 "))).toBe(false);
    });

    test("counts ignored requests against the rate limit", async () => {
      expect((await send("slow", '{"type":"b"}')).status).toBe(202);
      expect((await send("slow", '{"type":"b"}')).status).toBe(429);
    });

    test("applies to triggers over RPC", async () => {
      const trigger = async (type: string) => {
        const json = { orgId: org, agentName: "echo", slug: "many", payload: { type } };
        return (
          await ok<{ status: string }>(server, "POST", "/svc.v1.WebhookService/TriggerWebhook", { json })
        ).status;
      };
      expect([await trigger("other"), await trigger("wanted")]).toEqual(["ignored", "queued"]);
    });
  });

  describe("GET", () => {
    const get = (slug: string, query = "", options = {}, method = "GET") =>
      call<AcceptedJson>(server, method, `/webhook/${org}/agent/echo/${slug}${query}`, {
        key: null,
        ...options,
      });
    const wait = { headers: { prefer: "wait=30" } };

    test("triggers a webhook that accepts it, with the query as payload", async () => {
      const answer = await get("get", "?name=a%20b&tag=1&tag=2&x=", wait);
      expect([answer.status, answer.json.output], answer.text).toEqual([
        200,
        { name: "a b", tags: ["1", "2"] },
      ]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const accepted = await get("get");
      expect([accepted.status, accepted.json.status]).toEqual([202, "queued"]);
      const posted = await send("get", '{"name":"c"}', wait.headers);
      expect(posted.json.output).toEqual({ name: "c" });
      const [first] = (await deliveries("get")).slice(-1);
      expect((await delivery(first?.delivery_id ?? "")).payload).toEqual({
        name: "a b",
        tag: ["1", "2"],
        x: "",
      });
      const again = await redeliver(first?.delivery_id ?? "");
      expect(again.json.output).toEqual({ name: "a b", tags: ["1", "2"] });
    });

    test("is filtered, verified, limited and answered as POST is", async () => {
      expect((await get("get-only", "?type=a")).json.status).toBe("queued");
      expect((await get("get-only", "?type=b")).json).toEqual({ status: "ignored" });
      const post = await send("get-only", "{}");
      expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      expect((await get("get-token", "?a=1")).status).toBe(401);
      expect((await get("get-token", "?a=1", { headers: { "x-token": "hub-secret" } })).status).toBe(202);
      const page = await get("get-page", "?a=1");
      expect([page.status, page.json]).toEqual([200, { a: "1" }]);
      expect(page.headers.get("content-security-policy")).toBe("sandbox");
      const raw = await get("get-raw", "?a=1", wait);
      expect(raw.json.output).toMatchObject({ query: { a: "1" }, body: "" });
      const many = await get("get", `?${"a&".repeat(1000)}`);
      expect([many.status, many.text]).toEqual([400, expect.stringContaining("at most 1000 parameters")]);
      const key = { headers: { "idempotency-key": "get-1" } };
      const id = (await get("get", "?n=1", key)).json.execution_id;
      expect((await get("get", "?n=1", key)).json.execution_id).toBe(id);
      expect((await get("get", "?n=2", key)).status).toBe(422);
    });

    test("HEAD starts no execution, and other webhooks look as if they did not exist", async () => {
      const before = (await deliveries("get")).length;
      const head = await get("get", "?name=x", {}, "HEAD");
      expect([head.status, head.text]).toEqual([200, ""]);
      expect((await deliveries("get")).length).toBe(before);
      const [other, missing] = [await get("many"), await get("no-such-slug")];
      expect([other.status, other.text]).toEqual([405, missing.text]);
      expect([...other.headers.keys()]).toEqual([...missing.headers.keys()]);
      expect((await get("get", "", {}, "OPTIONS")).status).toBe(405);
    });
  });

  describe("a request with an invalid signature", () => {
    const forged = { "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
    const rejected = async (slug: string) => (await deliveries(slug))[0]?.delivery_id ?? "";

    test("keeps its payload where the webhook says so, and a person redelivers it unverified", async () => {
      expect((await send("keep", '{"n":1}', forged, "?a=b")).status).toBe(401);
      const id = await rejected("keep");
      const kept = await delivery(id);
      expect(kept).toMatchObject({ outcome: "rejected", http_status: 401, payload: { n: 1 } });
      const again = await redeliver(id);
      expect([again.status, again.json]).toEqual([
        200,
        expect.objectContaining({ output: { a: "b", n: 1 }, unverified: true }),
      ]);
    });

    test("keeps no payload that cannot be read or is too large", async () => {
      for (const body of ["{", `{"a":"${"x".repeat(256 * 1024)}"}`]) {
        expect((await send("keep", body, forged)).status).toBe(401);
        const kept = await delivery(await rejected("keep"));
        expect(kept.payload).toBeUndefined();
        expect(kept.reason).toMatch(/must be readable and have at most 262144 bytes\.$/);
      }
    });

    test("keeps no payload by default", async () => {
      expect((await send("forget", '{"n":1}', forged)).status).toBe(401);
      const again = await redeliver(await rejected("forget"));
      expect([again.status, again.text]).toEqual([409, expect.stringContaining("`keep_rejected: true`")]);
    });
  });

  test("a condition on values ignores requests, with the response that the sender needs", async () => {
    const status = async (body: string, query = "") => {
      const { status, text, headers } = await send("when", body, {}, query);
      return [status, text, headers.has("location")];
    };
    expect(await status('{"kind":"a"}')).toEqual([200, "", true]);
    expect(await status('{"kind":"c"}')).toEqual([200, "", false]);
    expect(await status('{"kind":"a"}', "?team=x")).toEqual([200, "", false]);
    const reasons = (await deliveries("when")).map(({ reason }) => reason);
    expect(reasons).toContain("The condition on kind does not hold: the value is not one of those listed.");
    expect(reasons).toContain(
      "The condition on $query.team does not hold: the value is one that is excluded.",
    );
  });
});
