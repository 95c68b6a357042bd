import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type OutgoingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebhookService } from "../../../proto/svc/v1/webhook_pb.ts";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { exchange, head } from "../../support/raw.ts";
import { type CallOptions, call, ended, expectError, ok, runToEnd } from "../../support/rest.ts";
import type { AcceptedJson, ExecutionPage, WebhookListJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

/** A payload with this many levels of objects. */
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;

const echo = "export default (input) => input;";

const project: ProjectSource = {
  agents: {
    echo: {
      code: echo,
      webhooks: [
        { slug: "plain" },
        { slug: "shared" },
        {
          slug: "mapped_1",
          field_mapping: {
            title: "title",
            "issue.user.login": "author",
            "issue.labels[0].name": "label",
            "items[1][0]": "cell",
            "a.b": "literal",
            nothing: "nothing",
            "issue.missing.deeper": "missing",
            "issue.labels[9].name": "beyond",
            "title.length": "length",
          },
        },
      ],
    },
    fails: {
      code: "export default () => { throw new RangeError('the reason'); };",
      webhooks: [{ slug: "fails" }],
    },
    slow: {
      code: `export default async ({ ms = 0, gate }) => {
        if (gate !== undefined) await fetch(gate);
        return new Promise((resolve) => setTimeout(resolve, ms, "late"));
      };`,
      webhooks: [{ slug: "slow" }],
    },
  },
  workflows: {
    flow: { code: echo, webhooks: [{ slug: "shared" }, { slug: "alone" }] },
  },
};

/** Rate limits stay enabled, with bursts that the tests do not reach. */
const env = { SVC_WEBHOOK_BURST: "10000", SVC_ORGANIZATION_BURST: "10000" };

onRuntime("node", "webhooks", { env }, (server) => {
  let org = "";
  beforeAll(async () => {
    await deploy(server, project);
    org = (await ok<WebhookListJson>(server, "GET", "/api/v1/webhooks/list")).organization.org_id;
  });

  /** Webhook URLs need no API key. */
  const post = <T = AcceptedJson>(path: string, options: CallOptions = {}) =>
    call<T>(server, "POST", path, { key: null, ...options });
  const plain = () => `/webhook/${org}/agent/echo/plain`;
  const stored = async () =>
    (await ok<ExecutionPage>(server, "GET", "/api/v1/executions?page_size=1000")).executions.length;

  test("queues an execution on each of the three paths and returns its location", async () => {
    const targets = [
      { path: plain(), kind: "agent", name: "echo" },
      { path: `/webhook/${org}/workflow/flow/shared`, kind: "workflow", name: "flow" },
      { path: `/api/v1/webhooks/trigger/${org}/alone`, kind: "workflow", name: "flow" },
    ];
    for (const { path, kind, name } of targets) {
      const payload = { order: [1, 2.5, null, true], nested: { text: "ä\u2028\ud83d\ude00" } };
      const answer = await post(path, { json: payload });
      expect(answer.status).toBe(202);
      expect(answer.json).toEqual({
        execution_id: expect.stringMatching(/^exe_[0-9a-hjkmnp-tv-z]{26}$/),
        status: "queued",
      });
      const { execution_id } = answer.json;
      const location = answer.headers.get("location");
      expect(location).toBe(`/api/v1/executions/${execution_id}`);
      const execution = await ended(server, execution_id);
      expect(execution).toMatchObject({
        execution_id,
        status: "succeeded",
        kind,
        name,
        trigger: "webhook",
        environment: "production",
        input: payload,
        output: payload,
        unmapped: [],
        attempt: 1,
        parent_execution_id: "",
      });
      expect(await ok(server, "GET", location ?? "")).toEqual(execution);
    }
  });

  test("maps fields, keeps their types, and lists unresolved paths", async () => {
    const payload = {
      title: "Crash",
      "a.b": "by its whole name",
      a: { b: "by path" },
      issue: { user: { login: null }, labels: [{ name: ["kept", { as: 1 }] }] },
      items: [[], [false]],
      unrelated: 1,
    };
    const { json } = await post(`/webhook/${org}/agent/echo/mapped_1`, { json: payload });
    const execution = await ended(server, json.execution_id);
    expect(execution.input).toEqual({
      title: "Crash",
      author: null,
      label: ["kept", { as: 1 }],
      cell: false,
      literal: "by its whole name",
    });
    expect(execution.output).toEqual(execution.input);
    expect(execution.unmapped.toSorted()).toEqual(
      ["nothing", "issue.missing.deeper", "issue.labels[9].name", "title.length"].toSorted(),
    );
  });

  test("treats names of the prototype as ordinary data", async () => {
    const body = '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":null}';
    const { json } = await post(plain(), { body });
    await ended(server, json.execution_id);
    const { text } = await call(server, "GET", `/api/v1/executions/${json.execution_id}`);
    const execution = JSON.parse(text) as { input: object; output: object };
    expect(execution.input).toEqual(JSON.parse(body));
    expect(execution.output).toEqual(JSON.parse(body));
  });

  test("returns the output to a caller that waits", async () => {
    const answer = await post(plain(), { json: { a: 1 }, headers: { prefer: "wait=20" } });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      execution_id: expect.stringMatching(/^exe_/),
      status: "succeeded",
      output: { a: 1 },
    });
    expect(answer.headers.get("preference-applied")).toBe("wait=20");
    expect(answer.headers.get("location")).toBe(`/api/v1/executions/${answer.json.execution_id}`);
  });

  test("answers a failed execution with 500", async () => {
    const answer = await call(server, "POST", `/webhook/${org}/agent/fails/fails`, {
      key: null,
      json: {},
      headers: { prefer: "wait=20" },
    });
    expect(answer.status).toBe(500);
    expect(answer.json).toMatchObject({
      code: "internal",
      message: "RangeError: the reason",
      execution_id: expect.stringMatching(/^exe_/),
    });
  });

  test("answers 202 with the current status when the wait ends first", async () => {
    const answer = await post(`/webhook/${org}/agent/slow/slow`, {
      json: { ms: 1600 },
      headers: { prefer: "wait=1" },
    });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("preference-applied")).toBe("wait=1");
    expect(["queued", "running"]).toContain(answer.json.status);
    expect((await ended(server, answer.json.execution_id)).output).toBe("late");
  });

  describe.each(["Connect", "gRPC"])("over %s, a Prefer header", (protocol) => {
    const trigger = async (name: string, payload: Record<string, number>, prefer: string) => {
      const transport =
        protocol === "gRPC"
          ? createGrpcTransport({ baseUrl: server.url })
          : createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" });
      const slug = name === "echo" ? "plain" : name;
      let applied: string | null = null;
      const response = await createClient(WebhookService, transport).triggerWebhook(
        { orgId: org, agentName: name, slug, payload },
        {
          headers: { prefer },
          onHeader: (headers) => {
            applied = headers.get("preference-applied");
          },
        },
      );
      return { response, applied };
    };

    test("fills the output when the execution succeeds in time", async () => {
      const { response, applied } = await trigger("echo", { a: 1 }, "wait=20");
      expect(applied).toBe("wait=20");
      expect(response.status).toBe("succeeded");
      expect(response.output).toMatchObject({ kind: { case: "structValue" } });
    });

    test("returns the current status when the wait ends first", async () => {
      const { response, applied } = await trigger("slow", { ms: 1600 }, "wait=1");
      expect(applied).toBe("wait=1");
      expect(["queued", "running"]).toContain(response.status);
      expect(response.output).toBeUndefined();
    });

    test("returns an error when the execution fails", async () => {
      const error = ConnectError.from(
        await trigger("fails", {}, "wait=20").then(
          () => null,
          (reason: unknown) => reason,
        ),
      );
      expect([error.code, error.rawMessage]).toEqual([Code.Internal, "RangeError: the reason"]);
      expect(error.metadata.get("location")).toMatch(/^\/api\/v1\/executions\/exe_/);
      expect(error.metadata.get("preference-applied")).toBe("wait=20");
      expect(error.metadata.get("svc-http-status")).toBeNull();
    });

    test("is ignored when it is not a number of seconds", async () => {
      const { response, applied } = await trigger("echo", {}, "wait=soon");
      expect([response.status, response.output, applied]).toEqual(["queued", undefined, null]);
    });
  });

  test("limits the wait to 60 s and ignores invalid preferences", async () => {
    const preferring = (prefer: string) => post(plain(), { json: {}, headers: { prefer } });
    const clamped = await preferring("respond-async, wait=86400");
    expect([clamped.status, clamped.headers.get("preference-applied")]).toEqual([200, "wait=60"]);
    for (const prefer of ["wait", "wait=0", "wait=-1", "wait=1.5", "wait=soon", "waiting=5", ""]) {
      const ignored = await preferring(prefer);
      expect([ignored.status, ignored.headers.get("preference-applied")], prefer).toEqual([202, null]);
    }
  });

  test("refuses a body that is not JSON, and stores nothing", async () => {
    const before = await stored();
    const bodies: [why: string, body: string | Uint8Array<ArrayBuffer>, message: RegExp][] = [
      ["broken", '{"a":', /must be JSON/],
      ["two values", "{}{}", /must be JSON/],
      ["empty", "", /must be JSON/],
      ["not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
      ["too deep", nested(65), /64 levels/],
      ["a bomb", "[".repeat(1_000_000), /./],
      ["a number beyond doubles", '{"a":1e999}', /1\.8e308/],
    ];
    for (const [why, body, message] of bodies) {
      const answer = await post(plain(), { body });
      expectError(answer, 400, "invalid_argument", message);
      expect(answer.headers.get("location"), why).toBeNull();
    }
    expect(await stored()).toBe(before);
  });

  test("answers 415 to another content type or coding, and stores nothing", async () => {
    const before = await stored();
    const headers: Record<string, string>[] = [
      { "content-type": "image/png" },
      { "content-type": "application/jsonp" },
      { "content-type": "text/plain; charset=utf-16" },
      { "content-type": "application/json; charset=iso-8859-1" },
      { "content-type": "application/json", "content-encoding": "gzip" },
    ];
    for (const one of headers) {
      const answer = await post(plain(), { body: "{}", headers: one });
      expectError(answer, 415, "invalid_argument", /./);
    }
    expect(await stored()).toBe(before);
    for (const type of [
      "application/json;charset=UTF-8",
      "Application/JSON",
      "application/cloudevents+json",
    ]) {
      const answer = await post(plain(), { body: "{}", headers: { "content-type": type } });
      expect(answer.status, type).toBe(202);
    }
  });

  test("accepts 1 MiB and answers 413 to one byte more, also in chunks", async () => {
    const before = await stored();
    const sized = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
    const message = /at most 1048576 bytes \(SVC_MAX_WEBHOOK_BYTES\)/;
    for (const bytes of [2 ** 20 + 1, 8_000_000]) {
      expectError(await post(plain(), { body: sized(bytes) }), 413, "resource_exhausted", message);
      const body = new Blob([sized(bytes)]).stream();
      expectError(await post(plain(), { body }), 413, "resource_exhausted", message);
    }
    expect(await stored()).toBe(before);
    expect((await post(plain(), { body: sized(2 ** 20) })).status).toBe(202);
    expect((await post(plain(), { body: new Blob([sized(2 ** 20)]).stream() })).status).toBe(202);
  });

  test("accepts bodies of all sizes unchanged", async () => {
    const sizes = [
      1, 1_000, 16_000, 16_384, 30_000, 65_000, 65_536, 66_000, 80_000, 100_000, 131_072, 300_000,
    ];
    for (const size of sizes) {
      const a = "x".repeat(size);
      const answer = await post(plain(), { json: { a }, headers: { prefer: "wait=20" } });
      const same = (answer.json.output as { a?: string } | undefined)?.a === a;
      expect([answer.status, same], `${size} bytes: ${answer.text.slice(0, 200)}`).toEqual([200, true]);
    }
  });

  test("answers 400 to an invalid chunked body, and stores nothing", async () => {
    const before = await stored();
    const start = head(`POST ${plain()}`, {
      "content-type": "application/json",
      "transfer-encoding": "chunked",
    });
    const [broken] = await exchange(server, `${start}2\r\n{}\r\nZZ\r\n`);
    expect(broken?.status).toBe(400);
    expect(await stored()).toBe(before);
  });

  test("sends one message for an unknown organization, target, kind and slug", async () => {
    const unknown = [
      `/webhook/org_${"0".repeat(26)}/agent/echo/plain`,
      `/webhook/${org}/agent/missing/plain`,
      `/webhook/${org}/workflow/echo/plain`,
      `/webhook/${org}/agent/echo/nothing`,
      `/webhook/${org}/agent/echo/Plain`,
      `/webhook/${org}/agent/echo/__proto__`,
      `/webhook/${org}/agent/fails/plain`,
      `/webhook/${org.toUpperCase()}/agent/echo/plain`,
      `/webhook/${org}%00/agent/echo/plain`,
      `/api/v1/webhooks/trigger/${org}/nothing`,
      `/api/v1/webhooks/trigger/org_x/plain`,
      `/env/staging${plain()}`,
    ];
    const answers = await Promise.all(unknown.map((path) => post(path, { json: {} })));
    for (const answer of answers) expectError(answer, 404, "not_found", /^There is no such webhook\.$/);
    expect((await post(`/webhook/${org}/queue/echo/plain`, { json: {} })).status).toBe(404);
    expect((await post(`${plain()}/`, { json: {} })).status).toBe(404);
  });

  test("answers an unknown webhook before it reads the body", async () => {
    const path = `/webhook/${org}/agent/echo/nothing`;
    expect((await post(path, { body: "x".repeat(3_000_000) })).status).toBe(404);
  });

  test("answers 409 to an ambiguous slug and names the candidates", async () => {
    const before = await stored();
    const answer = await post(`/api/v1/webhooks/trigger/${org}/shared`, { json: {} });
    expectError(answer, 409, "failed_precondition", /agent 'echo', workflow 'flow'/);
    expect(await stored()).toBe(before);
  });

  test("decodes percent-encoded names", async () => {
    expect((await post(`/webhook/${org}/agent/%65cho/mapped%5F1`, { json: {} })).status).toBe(202);
  });

  test("runs each of two hundred concurrent requests once", async () => {
    const numbers = Array.from({ length: 200 }, (_, index) => index);
    const answers = await Promise.all(
      numbers.map((number) => post(`/webhook/${org}/workflow/flow/alone`, { json: { number } })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const ids = answers.map(({ json }) => json.execution_id);
    expect(new Set(ids).size).toBe(numbers.length);
    const executions = await Promise.all(ids.map((id) => ended(server, id)));
    expect(executions.map(({ output }) => output)).toEqual(numbers.map((number) => ({ number })));
  });

  test("applies Prefer: wait to 200 callers at once and answers further ones immediately", {
    timeout: 120_000,
  }, async () => {
    // No execution ends before the further callers have their answers.
    const opened = Promise.withResolvers<void>();
    const gate = createServer(async (_, response) => {
      await opened.promise;
      response.end();
    }).listen(0, "127.0.0.1");
    await once(gate, "listening");
    onTestFinished(() => {
      gate.close();
      gate.closeAllConnections();
    });
    const json = { gate: `http://127.0.0.1:${(gate.address() as AddressInfo).port}` };
    let immediate = 0;
    const waiting = Array.from({ length: 205 }, async () => {
      const options = { json, headers: { prefer: "wait=60" } };
      const { status, headers } = await post(`/webhook/${org}/agent/slow/slow`, options);
      if (status === 202 && ++immediate === 5) opened.resolve();
      return `${status} ${headers.get("preference-applied")}`;
    });
    const answers = await Promise.all(waiting);
    const count = (one: string) => answers.filter((answer) => answer === one).length;
    expect([count("200 wait=60"), count("202 null")]).toEqual([200, 5]);
  });

  test("accepts concurrent requests on one HTTP/2 connection", async () => {
    const session = connect(server.url);
    const send = (body: string, headers: OutgoingHttpHeaders = {}) =>
      new Promise<{ status: number; location: unknown; text: string }>((resolve, reject) => {
        const request = session.request({
          ":method": "POST",
          ":path": plain(),
          "content-type": "application/json",
          ...headers,
        });
        let [status, location, text] = [0, undefined as unknown, ""];
        request.on("response", (head) => {
          status = head[":status"] ?? 0;
          location = head.location;
        });
        request.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        request.on("end", () => resolve({ status, location, text })).on("error", reject);
        request.end(body);
      });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, number) => send(JSON.stringify({ number }))),
    );
    for (const { status, location, text } of answers) {
      expect(status).toBe(202);
      expect(location).toBe(`/api/v1/executions/${(JSON.parse(text) as AcceptedJson).execution_id}`);
    }
    expect((await send("[")).status).toBe(400);
    expect((await send("{}", { "content-type": "image/png" })).status).toBe(415);
    expect((await send(`{"a":"${"x".repeat(2_000_000)}"}`)).status).toBe(413);
    expect((await send('{"after":"a refusal"}', { prefer: "wait=20" })).status).toBe(200);
    session.close();
  });

  test("lists the webhooks by target and filters by the key of the request", async () => {
    const list = await ok<WebhookListJson>(server, "GET", "/api/v1/webhooks/list");
    const url = (path: string) => `${server.url}/webhook/${org}/${path}`;
    expect(list).toMatchObject({
      organization: { org_id: org, name: "Default organization" },
      agents: [
        {
          name: "echo",
          webhooks: [
            { slug: "plain", url: url("agent/echo/plain"), field_mapping: {} },
            { slug: "shared", url: url("agent/echo/shared"), field_mapping: {} },
            {
              slug: "mapped_1",
              url: url("agent/echo/mapped_1"),
              field_mapping: expect.objectContaining({ "issue.labels[0].name": "label" }),
            },
          ],
        },
        { name: "fails", webhooks: [{ slug: "fails", url: url("agent/fails/fails"), field_mapping: {} }] },
        { name: "slow", webhooks: [{ slug: "slow", url: url("agent/slow/slow"), field_mapping: {} }] },
      ],
      workflows: [
        {
          name: "flow",
          webhooks: [
            { slug: "shared", url: url("workflow/flow/shared"), field_mapping: {} },
            { slug: "alone", url: url("workflow/flow/alone"), field_mapping: {} },
          ],
        },
      ],
    });
    // Rate limits recover with time.
    const text = (value: unknown) =>
      JSON.stringify(value, (name, member) => (name === "remaining" ? 0 : member));
    const own = await ok(server, "GET", "/api/v1/webhooks/list?api_key_only=true");
    expect(text(own)).toBe(text(list));
    expect(await ok(server, "GET", "/env/empty/api/v1/webhooks/list")).toMatchObject({
      agents: [],
      workflows: [],
    });
  });

  describe("in another environment", () => {
    test("serves the same paths under its base URL", async () => {
      const other = {
        ...project,
        agents: { echo: { code: "export default () => 'staged';", webhooks: [{ slug: "plain" }] } },
      };
      const deployment = await deploy(server, { ...other, workflows: {} }, { environment: "staging" });
      const url = `${server.url}/env/staging${plain()}`;
      expect(deployment.webhooks.map((webhook) => webhook.url)).toEqual([url]);
      const list = await ok<WebhookListJson>(server, "GET", "/env/staging/api/v1/webhooks/list");
      expect(list.agents).toMatchObject([
        { name: "echo", webhooks: [{ slug: "plain", url, field_mapping: {} }] },
      ]);
      const staged = await post(url, { json: {}, headers: { prefer: "wait=20" } });
      expect(staged.json.output).toBe("staged");
      const live = await post(plain(), { json: { here: 1 }, headers: { prefer: "wait=20" } });
      expect(live.json.output).toEqual({ here: 1 });
      const execution = await ended(server, staged.json.execution_id);
      expect(execution.environment).toBe("staging");
    });

    test("ignores a header that names it", async () => {
      const headers = { "svc-environment": "staging", prefer: "wait=20" };
      expect((await post(plain(), { json: { here: 2 }, headers })).json.output).toEqual({ here: 2 });
      const execution = await runToEnd(server, "echo", { here: 3 });
      expect(execution.environment).toBe("production");
    });
  });

  test("runs and returns a payload of 64 levels", async () => {
    const answer = await post(plain(), { body: nested(64), headers: { prefer: "wait=20" } });
    expect([answer.status, answer.json.output]).toEqual([200, JSON.parse(nested(64))]);
    expect((await ended(server, answer.json.execution_id)).input).toEqual(JSON.parse(nested(64)));
    expect(await stored()).toBeGreaterThan(0);
  });
});
