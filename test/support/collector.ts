/** A collector of OpenTelemetry: an HTTP server that decodes OTLP as JSON. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  status: { code: number; message: string };
  scope: string;
  resource: Record<string, unknown>;
}

interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string;
  doubleValue?: number;
  arrayValue?: { values: AnyValue[] };
}

type KeyValues = { key: string; value: AnyValue }[];

interface OtlpSpan extends Omit<CollectedSpan, "startMs" | "endMs" | "attributes" | "events"> {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValues;
  events: { name: string; attributes: KeyValues }[];
}

export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** The statuses of the next responses; 200 when there are none. */
  readonly statuses: number[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const status = request.url === "/v1/traces" ? (this.statuses.shift() ?? 200) : 404;
        this.headers.push(request.headers);
        if (status === 200) this.#add(JSON.parse(Buffer.concat(chunks).toString()));
        response.writeHead(status, { "content-type": "application/json", "retry-after": "0" }).end("{}");
        for (const look of [...this.#waiting]) look();
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, "127.0.0.1");
    await once(collector.#server, "listening");
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when a condition on the spans holds. */
  until(condition: (spans: readonly CollectedSpan[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!condition(this.spans)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #add(body: {
    resourceSpans: {
      resource: { attributes: KeyValues };
      scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[];
    }[];
  }): void {
    for (const { resource, scopeSpans } of body.resourceSpans) {
      for (const { scope, spans } of scopeSpans) {
        for (const { startTimeUnixNano, endTimeUnixNano, ...span } of spans) {
          this.spans.push({
            ...span,
            startMs: Number(BigInt(startTimeUnixNano) / 1000n) / 1000,
            endMs: Number(BigInt(endTimeUnixNano) / 1000n) / 1000,
            attributes: record(span.attributes),
            events: span.events.map((event) => ({ name: event.name, attributes: record(event.attributes) })),
            scope: scope.name,
            resource: record(resource.attributes),
          });
        }
      }
    }
  }
}

function record(pairs: KeyValues): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: AnyValue): unknown {
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plain);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? null;
}
