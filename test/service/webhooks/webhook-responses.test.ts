/** Webhooks whose response is the result of the execution, from the socket to the agent and back. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { type CallOptions, call, ended, ok } from "../../support/rest.ts";
import type { AcceptedJson, ExecutionJson, HealthJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

interface ResponseJson {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Calls `ctx.respond` with `response`, waits as long as `ctx.signal` allows with `stay`, fails with `fail`, or returns the input. */
const code = `export default async (input, ctx) => {
  if ("secret" in input) ctx.respond({ headers: { "x-secret": ctx.secrets.TOKEN }, body: "is " + ctx.secrets.TOKEN });
  if ("response" in input) ctx.respond(input.response);
  if (input.stay) await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
  if (input.fail || input.failOnce && ctx.attempt === 1) throw new TypeError("broken");
  return input;
};`;

const project: ProjectSource = {
  agents: {
    reply: {
      code,
      webhooks: [
        { slug: "output", respond: { kind: "output", timeout: 30 } },
        { slug: "short", respond: { kind: "output", timeout: 0.1 } },
        { slug: "quiet", respond: { kind: "output", timeout: 0.1, late: 200 }, event: "type", events: ["a"] },
        { slug: "plain" },
      ],
    },
    retried: {
      code,
      enable_retry: true,
      retry_policy: { max_retries: 1, strategy: "fixed", initial_delay: 0.1 },
      webhooks: [{ slug: "output", respond: "output" }],
    },
  },
};

onRuntime("node", "webhook responses", {}, (server) => {
  let org = "";
  beforeAll(async () => {
    await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "t0p-secret" } });
    await deploy(server, project);
    org = (await ok<HealthJson>(server, "GET", "/health")).organization;
  });

  const send = (slug: string, json: object, options: CallOptions = {}, agent = "reply") =>
    call<AcceptedJson>(server, "POST", `/webhook/${org}/agent/${agent}/${slug}`, {
      key: null,
      json,
      ...options,
    });
  const execution = (id: string) =>
    ok<ExecutionJson & { response?: ResponseJson }>(server, "GET", `/api/v1/executions/${id}`);
  const newest = async () => {
    const path = "/api/v1/executions?page_size=1";
    const [first] = (await ok<{ executions: ExecutionJson[] }>(server, "GET", path)).executions;
    return first?.execution_id ?? "";
  };
  const cancel = async (id: string) => {
    await ok(server, "POST", `/api/v1/executions/${id}/cancel`, { json: {} });
    await ended(server, id);
  };

  test("has the status, headers and body that the agent sets", async () => {
    const response = { status: 201, headers: { "X-Kind": "a", "Content-Type": "text/xml" }, body: "<a/>" };
    const answer = await send("output", { response });
    expect([answer.status, answer.text]).toEqual([201, "<a/>"]);
    const { headers } = answer;
    expect(headers.get("x-kind")).toBe("a");
    expect(headers.get("content-type")).toBe("text/xml");
    expect(headers.get("content-security-policy")).toBe("sandbox");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("ratelimit")).not.toBeNull();
    expect(headers.get("location")).toBeNull();
    const stored = await execution(await newest());
    expect(stored.response).toEqual({
      status: 201,
      headers: { "x-kind": "a", "content-type": "text/xml" },
      body: "<a/>",
    });
  });

  test("may have no body, redirect or be JSON", async () => {
    const empty = await send("output", { response: { status: 204 } });
    expect([empty.status, empty.text, empty.headers.get("content-length")]).toEqual([204, "", null]);
    const redirect = await send("output", { response: { status: 302, headers: { location: "/x" } } });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([302, "/x"]);
    const json = await send("output", { response: { body: { text: "ok" } } });
    expect([json.status, json.json]).toEqual([200, { text: "ok" }]);
  });

  test("is the output without ctx.respond", async () => {
    const answer = await send("output", { a: 1 });
    expect([answer.status, answer.json]).toEqual([200, { a: 1 }]);
    expect(answer.headers.get("content-security-policy")).toBe("sandbox");
  });

  test("is sent while the execution continues", async () => {
    const answer = await send("output", { response: { body: "working" }, stay: true });
    expect([answer.status, answer.text]).toEqual([200, "working"]);
    const id = await newest();
    expect((await execution(id)).status).toBe("running");
    await cancel(id);
    expect((await execution(id)).response?.body).toBe("working");
  });

  test("is 500 without a stack when the execution fails or is cancelled first", async () => {
    const failed = await send("output", { fail: true });
    expect(failed.status).toBe(500);
    expect(failed.json).toMatchObject({
      code: "internal",
      message: "TypeError: broken",
      execution_id: expect.stringMatching(/^exe_/),
    });
    const invalid = await send("output", { response: { headers: { "Set-Cookie": "a=b" } } });
    expect([invalid.status, invalid.text]).toEqual([
      500,
      expect.stringContaining("applies to the whole origin"),
    ]);
    expect(invalid.headers.get("set-cookie")).toBeNull();
    const late = await send("output", { response: { status: 500, body: "own" }, fail: true });
    expect([late.status, late.text]).toEqual([500, "own"]);
  });

  test("is an acknowledgement when the result takes too long", async () => {
    const late = await send("short", { stay: true });
    expect([late.status, late.json]).toEqual([202, { execution_id: await newest(), status: "running" }]);
    await cancel(await newest());
    const quiet = await send("quiet", { type: "a", stay: true });
    expect([quiet.status, quiet.text]).toEqual([200, ""]);
    await cancel(await newest());
    const ignored = await send("quiet", { type: "b" });
    expect([ignored.status, ignored.text]).toEqual([200, ""]);
  });

  test("does not contain the values of secrets", async () => {
    const answer = await send("output", { secret: true });
    expect([answer.headers.get("x-secret"), answer.text]).toEqual(["***", "is ***"]);
  });

  test("is the first one among the attempts", async () => {
    const answer = await send("output", { response: { body: "early" }, failOnce: true }, {}, "retried");
    expect(answer.text).toBe("early");
    const id = await newest();
    expect(await ended(server, id)).toMatchObject({ status: "succeeded", attempt: 2 });
    expect((await execution(id)).response?.body).toBe("early");
  });

  test("is repeated for an idempotency key", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const [first, second] = [
      await send("output", { response: { body: "once" } }, { headers }),
      await send("output", { response: { body: "once" } }, { headers }),
    ];
    expect([first.text, second.text]).toEqual(["once", "once"]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });

  describe("without a request that waits for it", () => {
    test("is stored with the execution", async () => {
      const { json, status } = await send("plain", { response: { body: "unread" } });
      expect(status).toBe(202);
      expect(await ended(server, json.execution_id)).toMatchObject({ status: "succeeded" });
      expect((await execution(json.execution_id)).response?.body).toBe("unread");
      const body = { name: "reply", input: { response: { body: "unread" } } };
      const run = await ok<ExecutionJson>(server, "POST", "/api/v1/executions", { json: body });
      await ended(server, run.execution_id);
      expect((await execution(run.execution_id)).response?.status).toBe(200);
    });

    test("is replaced by the output where the sender prefers to wait", async () => {
      const headers = { prefer: "wait=30" };
      const answer = await send("output", { response: { body: "own" } }, { headers });
      expect(answer.json).toMatchObject({ status: "succeeded", output: { response: { body: "own" } } });
    });
  });
});
