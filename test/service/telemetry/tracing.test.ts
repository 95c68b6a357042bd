/** One trace from a webhook through the queue, two attempts and a child execution to an outgoing call, in a real collector. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CollectedSpan, Collector } from "../../support/collector.ts";
import { deploy } from "../../support/project.ts";
import { call, ended, ok, runToEnd } from "../../support/rest.ts";
import { root } from "../../support/runtimes.ts";
import type { AcceptedJson, ExecutionJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const work = `
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { RestPlugin } from "svc/plugin";

export default async function (input, ctx) {
  if (ctx.attempt === 1) throw new Error("the first attempt fails");
  return trace.getTracer("users-library", "1.0.0").startActiveSpan("step", { attributes: { n: 7 } }, async (span) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await using api = new RestPlugin({ baseUrl: input.url });
    await api.get("/hello");
    span.addEvent("called", { list: ["a", ctx.secrets.HIDDEN] });
    const child = await ctx.run("child", {});
    span.recordException(new Error("kept"));
    span.setStatus({ code: SpanStatusCode.ERROR, message: "as set" });
    span.end();
    return { child, sampled: trace.getSpan(context.active()).spanContext().traceFlags };
  });
}`;
const child = `
import { trace } from "@opentelemetry/api";
export default () => trace.getActiveSpan().spanContext().traceId;`;
const flood = `
import { trace } from "@opentelemetry/api";
export default () => {
  for (let i = 0; i < 1500; i++) trace.getTracer("t").startSpan("span " + i).end();
  return trace.getTracer("t").startSpan("over").isRecording();
};`;

/** Users' code with its own copy of the API, as \`svc push\` bundles it. */
async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["svc", "svc/plugin"],
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

const collector = await Collector.start();
const received: IncomingHttpHeaders[] = [];
let other: Server;
let url = "";
beforeAll(async () => {
  other = createServer((request, response) => {
    received.push(request.headers);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
});
afterAll(() => {
  collector.close();
  other.close();
  other.closeAllConnections();
});

const env = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
  OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=a%20key",
  OTEL_SERVICE_NAME: "traced",
  OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  OTEL_BSP_SCHEDULE_DELAY: "20",
};

onRuntime("bun", "tracing", { env }, (server) => {
  const named = (traceId: string, name: string): CollectedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId && span.name === name);

  test("joins a webhook, the queue, two attempts, a child execution and an outgoing call", async () => {
    await ok(server, "PUT", "/api/v1/secrets/HIDDEN", { json: { value: "a-hidden-value" } });
    const { webhooks } = await deploy(server, {
      agents: {
        work: {
          code: await bundled(work),
          enable_retry: true,
          retry_policy: { max_retries: 1, initial_delay: 0 },
          webhooks: [{ slug: "in" }],
        },
        child: { code: await bundled(child), expose_as_tool: true },
        flood: await bundled(flood),
      },
    });
    const traceId = Buffer.from(`${server.runtime.padEnd(4)}trace-of-test`)
      .subarray(0, 16)
      .toString("hex");
    const headers = {
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
      tracestate: "vendor=value,other=1",
      prefer: "wait=30",
    };
    const answer = await call<AcceptedJson>(server, "POST", webhooks[0]?.url ?? "", {
      json: { url },
      headers,
      key: null,
    });
    expect(answer.json).toMatchObject({ output: { child: traceId, sampled: 1 } });
    await collector.until(() => named(traceId, "POST webhook").length === 1);

    const [request] = named(traceId, "POST webhook");
    expect(request).toMatchObject({
      parentSpanId: "00f067aa0ba902b7",
      kind: 2,
      traceState: "vendor=value,other=1",
      attributes: {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "svc.execution.id": answer.json.execution_id,
      },
      resource: { "service.name": "traced", "deployment.environment.name": "test" },
      scope: "svc",
    });
    const parentSpanId = request?.spanId;
    const queued = named(traceId, "queue work");
    expect(queued.map((span) => span.parentSpanId)).toEqual([parentSpanId, parentSpanId]);
    const attempts = named(traceId, "run work").toSorted((a, b) => a.startMs - b.startMs);
    expect(attempts).toMatchObject([
      {
        parentSpanId,
        attributes: { "svc.attempt": 1, "svc.attempt.outcome": "thrown", "svc.target.name": "work" },
        status: { code: 2, message: "Error: the first attempt fails" },
      },
      {
        parentSpanId,
        attributes: { "svc.attempt": 2, "svc.attempt.outcome": "succeeded" },
        status: { code: 0 },
      },
    ]);
    const [step] = named(traceId, "step");
    expect(step).toMatchObject({
      parentSpanId: attempts[1]?.spanId,
      scope: "users-library",
      attributes: { n: 7 },
      status: { code: 2, message: "as set" },
      events: [
        { name: "called", attributes: { list: ["a", "***"] } },
        { name: "exception", attributes: { "exception.type": "Error", "exception.message": "kept" } },
      ],
    });
    const [outgoing] = named(traceId, "GET");
    expect(outgoing).toMatchObject({
      parentSpanId: step?.spanId,
      kind: 3,
      scope: "svc/plugin",
      attributes: {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "url.full": `${url}/hello`,
      },
    });
    expect(received.at(-1)).toMatchObject({
      traceparent: `00-${traceId}-${outgoing?.spanId}-01`,
      tracestate: "vendor=value,other=1",
    });
    for (const name of ["queue child", "run child"]) {
      expect(named(traceId, name)).toMatchObject([{ parentSpanId: step?.spanId }]);
    }
    const inTrace = collector.spans.filter((span) => span.traceId === traceId);
    expect(inTrace).toHaveLength(9);
    for (const { startMs, endMs } of inTrace) {
      expect(endMs).toBeGreaterThanOrEqual(startMs);
      expect(Math.abs(Date.now() - endMs)).toBeLessThan(600_000);
    }
    expect(collector.headers.at(-1)?.["x-collector-key"]).toBe("a key");
  });

  test("starts a trace for a call of the API, and keeps that of an unsampled caller", async () => {
    const run = await runToEnd(server, "child");
    const traceId = String(run.output);
    await collector.until(() => named(traceId, "run child").length === 1);
    const [request] = named(traceId, "POST RunExecution");
    expect(named(traceId, "run child")).toMatchObject([{ parentSpanId: request?.spanId }]);
    const unsampled = "0af7651916cd43dd8448eb211c80319c";
    const started = await ok<ExecutionJson>(server, "POST", "/api/v1/executions", {
      json: { name: "child" },
      headers: { traceparent: `00-${unsampled}-b7ad6b7169203331-00` },
    });
    expect((await ended(server, started.execution_id)).output).toBe(unsampled);
    const next = await runToEnd(server, "child");
    await collector.until(() => named(String(next.output), "run child").length === 1);
    expect(collector.spans.filter((span) => span.traceId === unsampled)).toEqual([]);
  });

  test("joins a call of a tool over MCP", async () => {
    const headers = { accept: "application/json, text/event-stream" };
    const params = { name: "child", arguments: {} };
    const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const { text } = await call(server, "POST", "/mcp", { json, headers });
    const [traceId = ""] = /[0-9a-f]{32}/.exec(text) ?? [text];
    await collector.until(() => named(traceId, "POST mcp").length === 1);
    const [request] = named(traceId, "POST mcp");
    expect(named(traceId, "run child")).toMatchObject([{ parentSpanId: request?.spanId }]);
  });

  test("limits the spans of an attempt", async () => {
    const before = collector.spans.length;
    const run = await runToEnd(server, "flood");
    expect([run.status, run.output]).toEqual(["succeeded", false]);
    await collector.until((spans) => spans.slice(before).some(({ name }) => name === "run flood"));
    const kept = collector.spans.slice(before).filter(({ name }) => name.startsWith("span "));
    expect(kept.length).toBeLessThanOrEqual(1000);
    expect(kept.length).toBeGreaterThan(100);
  });

  test("sends the last spans when the server stops", async () => {
    const run = await runToEnd(server, "child");
    await server.kill("SIGTERM");
    expect(named(String(run.output), "run child")).toHaveLength(1);
  });
});
