/** The settings, the contexts, the sampler and the exporter of tracing, and the limits of spans of users' code. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonValue } from "../../../project/json.ts";
import { parseSpan } from "../../../server/executions/pool/parse-span.ts";
import {
  formatContext,
  parseContext,
  parseHeaders,
  randomHex,
  traceIdOf,
} from "../../../server/telemetry/tracing/context.ts";
import { SpanExporter } from "../../../server/telemetry/tracing/exporter.ts";
import { type TracingSettings, tracingSettings } from "../../../server/telemetry/tracing/settings.ts";
import type { Span } from "../../../server/telemetry/tracing/span.ts";
import { Tracer } from "../../../server/telemetry/tracing/tracer.ts";
import { Collector } from "../../support/collector.ts";

const endpoint = "http://collector:4318";
const on = (env: Record<string, string> = {}): TracingSettings => {
  const settings = tracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env });
  if (settings === null) throw new Error("Tracing is off.");
  return settings;
};

afterEach(() => vi.restoreAllMocks());

describe("the settings", () => {
  test("are off without an endpoint, and when the SDK or the exporter is off", () => {
    expect(tracingSettings({})).toBeNull();
    expect(tracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: "TRUE" })).toBeNull();
    expect(
      tracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: "none" }),
    ).toBeNull();
  });

  test("take the specific variable before the general one", () => {
    expect(on().url).toBe("http://collector:4318/v1/traces");
    const own = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://other/x",
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "5",
    };
    expect(on(own)).toMatchObject({ url: "https://other/x", timeoutMs: 5 });
    expect(() => tracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" })).toThrow(
      "Cannot use OTEL_EXPORTER_OTLP_ENDPOINT: it must be an http or https URL, not 'collector:4318'.",
    );
  });

  test("decode headers and attributes of the resource", () => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x,, b = c=d ,%ZZ=%ZZ",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=a,team=b",
    };
    expect(on(env)).toMatchObject({
      headers: { authorization: "Bearer x", b: "c=d", "%ZZ": "%ZZ" },
      resource: { "service.name": "a", "service.version": expect.stringMatching(/^\d+\.\d+/), team: "b" },
    });
    expect(on({ ...env, OTEL_SERVICE_NAME: "named" }).resource["service.name"]).toBe("named");
  });

  test("ignore values that cannot be used, with a warning", () => {
    const warned = vi.spyOn(console, "error").mockImplementation(() => {});
    const env = { OTEL_TRACES_SAMPLER: "jaeger_remote", OTEL_BSP_MAX_QUEUE_SIZE: "many" };
    expect(on(env)).toMatchObject({ sampler: { parentBased: true, ratio: 1 }, maxQueued: 2048 });
    const ratio = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" };
    expect(on(ratio).sampler).toEqual({ parentBased: false, ratio: 1 });
    expect(warned).toHaveBeenCalledTimes(3);
  });
});

describe("a context", () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const spanId = "00f067aa0ba902b7";

  test.each([
    [`00-${traceId}-${spanId}-01`, { traceId, spanId, sampled: true, state: "" }],
    [`00-${traceId}-${spanId}-00`, { traceId, spanId, sampled: false, state: "" }],
    [`cc-${traceId}-${spanId}-09-of-the-future`, { traceId, spanId, sampled: true, state: "" }],
  ])("is read from %s", (text, expected) => {
    expect(parseHeaders(text, undefined)).toEqual(expected);
  });

  test.each([
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
    "",
  ])("is not read from %j", (text) => {
    expect(parseHeaders(text, undefined)).toBeNull();
  });

  test("keeps a tracestate that is well formed and not too long", () => {
    const read = (state: string | string[]) => parseHeaders(`00-${traceId}-${spanId}-01`, state)?.state;
    expect(read("a=1, b@c=2 ,,")).toBe("a=1,b@c=2");
    expect(read(["a=1", "b=2"])).toBe("a=1,b=2");
    expect(read("A=1")).toBe("");
    expect(read("a=\u0001")).toBe("");
    expect(read(`a=${"x".repeat(600)}`)).toBe("");
  });

  test("is stored as one text", () => {
    const context = { traceId, spanId, sampled: true, state: "a=1,b=2 c" };
    expect(parseContext(formatContext(context))).toEqual(context);
    expect(traceIdOf("exe_1")).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(Array.from({ length: 3000 }, () => randomHex(8))).size).toBe(3000);
  });
});

describe("the sampler", () => {
  const spans = (env: Record<string, string>, headers = {}, count = 1): Span[] => {
    const added: Span[] = [];
    const tracer = new Tracer(on(env), { add: (span) => added.push(span), close: async () => {} });
    for (let i = 0; i < count; i++) tracer.request(headers).end("POST webhook", "POST", 202);
    return added;
  };
  const sampled = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
  const unsampled = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00" };

  test.each([
    ["parentbased_always_on", 1, 1, 0],
    ["parentbased_always_off", 0, 1, 0],
    ["always_on", 1, 1, 1],
    ["always_off", 0, 0, 0],
  ])("%s", (name, root, ofSampled, ofUnsampled) => {
    const env = { OTEL_TRACES_SAMPLER: name };
    expect(spans(env)).toHaveLength(root);
    expect(spans(env, sampled)).toHaveLength(ofSampled);
    expect(spans(env, unsampled)).toHaveLength(ofUnsampled);
  });

  test("traceidratio keeps its share of traces", () => {
    const env = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" };
    const kept = spans(env, {}, 4000).length;
    expect(kept).toBeGreaterThan(800);
    expect(kept).toBeLessThan(1200);
  });
});

test("attempts of an execution without a context share a trace", () => {
  const added: Span[] = [];
  const tracer = new Tracer(on(), { add: (span) => added.push(span), close: async () => {} });
  for (const attempt of [1, 2]) {
    const times = { created_at: 1000, due_at: 1000 + attempt, attempt_started_at: 3000 };
    const target = { kind: "agent", name: "a", deployment_id: "dep_1", environment: "production" };
    const execution = {
      ...target,
      ...times,
      execution_id: "exe_1",
      origin: "schedule",
      attempt,
      trace: null,
    };
    tracer.attempt(execution).end("succeeded", { code: 0, message: "" });
  }
  expect(added.map(({ name }) => name)).toEqual(["queue a", "run a", "queue a", "run a"]);
  expect(new Set(added.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf("exe_1")]));
  expect(added[0]).toMatchObject({ parentId: null, startMs: 1001, endMs: 3000 });
});

describe("the exporter", () => {
  const span: Span = {
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    spanId: "00f067aa0ba902b7",
    parentId: null,
    state: "",
    name: "a",
    kind: 0,
    startMs: 1_700_000_000_000.125,
    endMs: 1_700_000_000_001,
    attributes: { text: "t", integer: 1, fraction: 0.5, flag: true, list: ["a", 1], none: undefined },
    events: [],
    status: { code: 0, message: "" },
    scope: "svc",
  };

  test("sends spans in batches, and again when the collector is busy", async () => {
    const collector = await Collector.start();
    try {
      collector.statuses.push(503, 429);
      const batches = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" };
      const exporter = new SpanExporter(on(batches));
      for (let i = 0; i < 5; i++) exporter.add(span);
      await collector.until((all) => all.length === 4);
      await exporter.close();
      expect(collector.spans).toHaveLength(5);
      expect(collector.headers).toHaveLength(5);
      expect(collector.spans[0]).toMatchObject({
        kind: 1,
        startMs: span.startMs,
        endMs: span.endMs,
        attributes: { text: "t", integer: 1, fraction: 0.5, flag: true, list: ["a", 1] },
      });
    } finally {
      collector.close();
    }
  });

  test("drops spans over its queue, and batches that the collector refuses", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const collector = await Collector.start();
    try {
      collector.statuses.push(400);
      const small = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_MAX_QUEUE_SIZE: "3" };
      const exporter = new SpanExporter(on(small));
      for (let i = 0; i < 5; i++) exporter.add(span);
      await exporter.close();
      expect(collector.headers).toHaveLength(1);
      expect(collector.spans).toEqual([]);
      expect(logged).toHaveBeenCalledWith("Cannot send 3 spans: the collector answered 400");
    } finally {
      collector.close();
    }
  });
});

describe("a span of users' code", () => {
  const valid = {
    spanId: "00f067aa0ba902b7",
    parentId: "00f067aa0ba902b8",
    name: "a",
    kind: 2,
    startMs: 1,
    endMs: 2,
    attributes: { text: "t", list: [1, null, "x"], __proto__x: true },
    events: [{ name: "e", atMs: 1, attributes: {} }],
    status: { code: 2, message: "m" },
    scope: "s",
  };

  test("is passed on", () => {
    expect(parseSpan(valid)).toEqual(valid);
  });

  test.each<[string, Record<string, JsonValue>]>([
    ["an id", { spanId: "x" }],
    ["an id of zeros", { parentId: "0".repeat(16) }],
    ["a long name", { name: "x".repeat(1025) }],
    ["a kind", { kind: 5 }],
    ["a time", { endMs: 1e300 }],
    ["an attribute that is an object", { attributes: { a: {} } }],
    ["an attribute that is null", { attributes: { a: null } }],
    ["a nested list", { attributes: { a: [[1]] } }],
    ["a long list", { attributes: { a: Array(33).fill(1) } }],
    ["a long text", { attributes: { a: "x".repeat(1025) } }],
    [
      "many attributes",
      { attributes: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`a${i}`, 1])) },
    ],
    ["many events", { events: Array(33).fill(valid.events[0]) }],
    ["a status", { status: { code: 3, message: "" } }],
  ])("is refused for %s", (_, change) => {
    expect(() => parseSpan({ ...valid, ...change })).toThrow(/^it sent /);
  });
});
