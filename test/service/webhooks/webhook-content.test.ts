/** Requests of other content types than JSON, from the socket to the agent. */
import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { call, expectError, ok } from "../../support/rest.ts";
import type { AcceptedJson, ExecutionJson, HealthJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const project: ProjectSource = {
  agents: {
    echo: {
      code: "export default (input) => input;",
      webhooks: [
        { slug: "plain" },
        { slug: "mapped", field_mapping: { "event.text": "text" } },
        { slug: "signed", signature: { scheme: "github", secret: "HUB" } },
        { slug: "raw", raw: true, signature: { scheme: "github", secret: "HUB" } },
        {
          slug: "sources",
          field_mapping: {
            "$header.X-Event": "event",
            "$header.authorization": "credentials",
            "$query.team": "team",
            $path: "path",
            "=demo": "source",
            title: { parameter: "title", default: "untitled" },
          },
        },
        { slug: "empty", respond: 200 },
        { slug: "no-files", files: "refuse" },
        { slug: "near", allow_from: ["127.0.0.0/8", "::1"] },
        { slug: "far", allow_from: ["192.0.2.1", "2001:db8::/32"] },
        { slug: "get-only", methods: ["GET"] },
        { slug: "raw-unsigned", raw: true },
        { slug: "filtered", when: { "$header.X-Event": "push" } },
      ],
    },
  },
};

onRuntime("bun", "webhook content", {}, (server) => {
  let org = "";
  beforeAll(async () => {
    await ok(server, "PUT", "/api/v1/secrets/HUB", { json: { value: "hub-secret" } });
    await deploy(server, project);
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });

  const send = (
    slug: string,
    type: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers = {},
    query = "",
  ) =>
    call<AcceptedJson>(server, "POST", `/webhook/${org}/agent/echo/${slug}${query}`, {
      key: null,
      body,
      headers: { "content-type": type, prefer: "wait=30", ...headers },
    });
  const form = "application/x-www-form-urlencoded";

  test("reaches the agent as an object", async () => {
    const accepted = async (...values: Parameters<typeof send>) => {
      const answer = await send(...values);
      expect(answer.status, answer.text).toBe(200);
      return answer.json.output;
    };
    expect(await accepted("plain", "application/json", "[1,2]")).toEqual({ payload: [1, 2] });
    expect(await accepted("plain", form, "command=%2Fdeploy&text=now")).toEqual({
      command: "/deploy",
      text: "now",
    });
    expect(await accepted("plain", "text/plain", "hello")).toEqual({ payload: "hello" });
    expect(await accepted("plain", "application/xml", "<a/>")).toEqual({ payload: "<a/>" });
    const payload = encodeURIComponent('{"event":{"text":"hi"}}');
    expect(await accepted("mapped", form, `payload=${payload}`)).toEqual({ text: "hi" });
    const parts =
      '--x\r\nContent-Disposition: form-data; name="a"; filename="a.bin"\r\nContent-Type: image/png\r\n\r\nx\r\n--x--\r\n';
    expect(await accepted("plain", "multipart/form-data; boundary=x", parts)).toEqual({
      a: { filename: "a.bin", content_type: "image/png", size: 1, base64: "eA==" },
    });
    const event = { "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/s", "ce-type": "t" };
    expect(await accepted("plain", "application/json", '{"n":1}', event)).toMatchObject({
      id: "1",
      data: { n: 1 },
    });
    expectError(
      await send("no-files", "multipart/form-data; boundary=x", parts),
      400,
      "invalid_argument",
      /files/,
    );
    expectError(await send("plain", "image/png", "x"), 415, "invalid_argument", /Content-Type/);
  });

  describe("a signed request", () => {
    const sign = (body: string | Uint8Array) => ({
      "x-hub-signature-256": `sha256=${createHmac("sha256", "hub-secret").update(body).digest("hex")}`,
    });

    test("is verified by its raw bytes", async () => {
      const body = "payload=%7B%22a%22%3A1%7D";
      expect((await send("signed", form, body, sign(body))).json.output).toEqual({ a: 1 });
      const other = "payload=%7b%22a%22%3A1%7D";
      expect((await send("signed", form, other, sign(body))).status).toBe(401);
    });

    test("may reach the agent unread", async () => {
      const bytes = Uint8Array.of(0xff, 0);
      const answer = await send("raw", "image/png", bytes, { ...sign(bytes), "x-kind": "a" }, "?a=1&b=2&b=3");
      expect(answer.json.output).toMatchObject({
        headers: { "x-kind": "a", "content-type": "image/png", "x-hub-signature-256": "[hidden]" },
        query: { a: "1", b: ["2", "3"] },
        body: "/wA=",
        body_is_base64: true,
      });
      const broken = await send("raw", "application/json", "{", sign("{"));
      expect(broken.json.output).toMatchObject({ body: "{" });
      expect((await send("raw", "application/json", "{", sign("}"))).status).toBe(401);
    });
  });

  test("is accepted from allowed addresses only", async () => {
    expect((await send("near", "application/json", "{}")).status).toBe(200);
    expectError(await send("far", "application/json", "{}"), 403, "permission_denied", /address/);
  });

  test.each([
    ["near", 200, ""],
    ["far", 403, "SENDER_NOT_ALLOWED"],
    ["get-only", 400, "WEBHOOK_REQUEST_REQUIRED"],
    ["raw-unsigned", 400, "WEBHOOK_REQUEST_REQUIRED"],
    ["filtered", 400, "WEBHOOK_REQUEST_REQUIRED"],
    ["signed", 401, "SIGNATURE_REQUIRED"],
  ])("a call of TriggerWebhook without a key on %s has the status %d", async (slug, status, reason) => {
    const json = { org_id: org, agent_name: "echo", slug, payload: {} };
    const path = "/svc.v1.WebhookService/TriggerWebhook";
    const answer = await call(server, "POST", path, {
      key: null,
      json,
    });
    expect(answer.status, answer.text).toBe(status);
    if (reason !== "") expect(answer.text).toContain(reason);
  });

  test("is mapped together with headers, the query, the path, constants and defaults", async () => {
    const headers = { "x-event": "opened", authorization: "Bearer abc" };
    const answer = await send("sources", "application/json", "{}", headers, "?team=a");
    const expected = {
      event: "opened",
      team: "a",
      path: "/agent/echo/sources",
      source: "demo",
      title: "untitled",
    };
    expect(answer.json.output).toEqual(expected);
    const id = answer.json.execution_id;
    const execution = await ok<ExecutionJson>(server, "GET", `/api/v1/executions/${id}`);
    expect(execution.unmapped).toEqual(["$header.authorization"]);
    const again = await call<AcceptedJson>(
      server,
      "POST",
      `/api/v1/webhooks/deliveries/${id.replace("exe", "dlv")}/redeliver`,
      { json: {}, headers: { prefer: "wait=30" } },
    );
    expect(again.json.output, again.text).toEqual(expected);
  });

  test("is answered with 200 and an empty body where the webhook says so", async () => {
    const send = (headers = {}) =>
      call<AcceptedJson>(server, "POST", `/webhook/${org}/agent/echo/empty`, {
        key: null,
        body: '{"a":1}',
        headers,
      });
    const answer = await send();
    expect([answer.status, answer.text]).toEqual([200, ""]);
    const id = answer.headers.get("location")?.split("/").at(-1);
    expect((await ok<ExecutionJson>(server, "GET", `/api/v1/executions/${id}`)).input).toEqual({ a: 1 });
    expect((await send({ prefer: "wait=30" })).json.output).toEqual({ a: 1 });
  });
});
