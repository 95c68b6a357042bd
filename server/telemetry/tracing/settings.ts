/**
 * The settings of tracing, from the variables of the OpenTelemetry specification
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */
import { version } from "../../version.ts";
import { log } from "../log/index.ts";

export interface TracingSettings {
  /** Where spans are sent. */
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  /** By name. */
  resource: Record<string, string>;
  sampler: SamplerSettings;
  /** Spans that wait for a batch. Further ones are dropped. */
  maxQueued: number;
  maxBatch: number;
  delayMs: number;
}

export interface SamplerSettings {
  /** Whether the decision of the caller counts, if there is one. */
  parentBased: boolean;
  /** The share of traces, 0 to 1. */
  ratio: number;
}

type Environment = Record<string, string | undefined>;

const defaultSampler: SamplerSettings = { parentBased: true, ratio: 1 };

/** @returns null when no endpoint is set, or tracing is off. @throws Error that names the variable, the rule and the value */
export function tracingSettings(env: Environment): TracingSettings | null {
  const url = endpoint(env);
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || env.OTEL_TRACES_EXPORTER === "none";
  if (url === null || isOff) return null;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && protocol !== "http/json") {
    log.warn(`Spans are sent as http/json, not as '${protocol}' (OTEL_EXPORTER_OTLP_PROTOCOL).`);
  }
  return {
    url,
    headers: pairs(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? ""),
    timeoutMs: number(env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TIMEOUT, 10_000),
    resource: {
      "service.name": "svc",
      "service.version": version,
      ...pairs(env.OTEL_RESOURCE_ATTRIBUTES ?? ""),
      ...(env.OTEL_SERVICE_NAME ? { "service.name": env.OTEL_SERVICE_NAME } : {}),
    },
    sampler: sampler(env),
    maxQueued: number(env.OTEL_BSP_MAX_QUEUE_SIZE, 2048),
    maxBatch: number(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512),
    delayMs: number(env.OTEL_BSP_SCHEDULE_DELAY, 5000),
  };
}

function endpoint(env: Environment): string | null {
  const traces = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const [variable, text] = traces
    ? ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces]
    : ["OTEL_EXPORTER_OTLP_ENDPOINT", base ? `${base.replace(/\/+$/, "")}/v1/traces` : ""];
  if (text === "") return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new Error(`Cannot use ${variable}: it must be an http or https URL, not '${traces ?? base}'.`);
}

/** `key1=value1,key2=value2`, percent-encoded. */
function pairs(text: string): Record<string, string> {
  const entries = text.split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    if (at < 1) return [];
    return [[pair.slice(0, at).trim(), decode(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(entries);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A value that cannot be used is ignored with a warning, as the specification demands: the variables may be a fleet's. */
function number(text: string | undefined, standard: number): number {
  if (!text) return standard;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  log.warn(`A variable of OpenTelemetry must be a positive number, not '${text}': ${standard} is used.`);
  return standard;
}

function sampler(env: Environment): SamplerSettings {
  const name = env.OTEL_TRACES_SAMPLER;
  if (!name) return defaultSampler;
  const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? [];
  if (kind === undefined) {
    log.warn(`The sampler '${name}' (OTEL_TRACES_SAMPLER) is unknown: parentbased_always_on is used.`);
    return defaultSampler;
  }
  const ratios: Record<string, number> = { always_on: 1, always_off: 0 };
  return {
    parentBased: parentBased !== undefined,
    ratio: ratios[kind] ?? ratio(env.OTEL_TRACES_SAMPLER_ARG),
  };
}

function ratio(text: string | undefined): number {
  const value = Number(text || 1);
  if (value >= 0 && value <= 1) return value;
  log.warn(`The ratio of the sampler (OTEL_TRACES_SAMPLER_ARG) must be 0 to 1, not '${text}': 1 is used.`);
  return 1;
}
