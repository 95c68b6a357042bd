/**
 * The Connect protocol for the command line: unary calls and server streams in the binary format.
 *
 * connect's own transports build on `fetch` and its `Headers`. To load these, Node 24 needs twice the processor time of an
 * empty program, about as much as all the rest of `svc webhook list`.
 */
import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type Transport } from "@connectrpc/connect";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { duration } from "../terminal/format.ts";
import { report } from "../terminal/report.ts";
import { envelope, readEnvelopes } from "./envelopes.ts";
import { ConnectionFailed, UnexpectedResponse } from "./failures.ts";
import { type HttpResponse, post } from "./send.ts";

export { createClient } from "@connectrpc/connect";

/** Far above every limit of the service. */
const maxResponseBytes = 256 * 1024 * 1024;
/** Timeout of unary calls. Streams have none. */
const callTimeoutMs = 300_000;
/** One level of JSON is three levels of messages, so inputs and outputs may exceed the library's limit of 100. */
const binaryOptions = { recursionLimit: 10_000 };
/** Marks the last envelope of a stream. */
const endFlag = 2;

export interface TransportOptions {
  baseUrl: string;
  apiKey: string;
  verbose: boolean;
}

export function createTransport(options: TransportOptions): Transport {
  return {
    async unary(method, signal, _timeoutMs, _header, input) {
      const limit = AbortSignal.timeout(callTimeoutMs);
      const ended = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      return within(signal, options, limit, async () => {
        const message = toBinary(method.input, create(method.input, input));
        const call: Call = {
          service: method.parent.typeName,
          method: method.name,
          type: "application/proto",
        };
        const response = await send(options, call, message, ended);
        const bytes = await collect(response.body);
        if (response.status !== 200) throw errorOf(response, parseJson(bytes));
        const headers = (): Headers => new Headers(response.headers);
        return {
          stream: false,
          service: method.parent,
          method,
          message: fromBinary(method.output, bytes, binaryOptions),
          get header() {
            return headers();
          },
          get trailer() {
            return new Headers();
          },
        };
      });
    },
    async stream(method, signal, _timeoutMs, _header, input) {
      const messages: Uint8Array[] = [];
      for await (const message of input) {
        messages.push(envelope(toBinary(method.input, create(method.input, message))));
      }
      const response = await within(signal, options, null, async () => {
        const call: Call = {
          service: method.parent.typeName,
          method: method.name,
          type: "application/connect+proto",
        };
        const ended = signal ?? new AbortController().signal;
        const response = await send(options, call, Buffer.concat(messages), ended);
        if (response.status === 200) return response;
        throw errorOf(response, parseJson(await collect(response.body)));
      });
      return {
        stream: true,
        service: method.parent,
        method,
        message: readMessages(method.output, response, signal, options),
        contextValues: createContextValues(),
        get header() {
          return new Headers(response.headers);
        },
        get trailer() {
          return new Headers();
        },
      };
    },
  };
}

interface Call {
  service: string;
  method: string;
  type: string;
}

async function send(
  { baseUrl, apiKey, verbose }: TransportOptions,
  { service, method, type }: Call,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const url = `${baseUrl}/${service}/${method}`;
  const startedAt = performance.now();
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "content-type": type,
    "connect-protocol-version": "1",
  };
  const response = await post({ url, headers, body, signal });
  if (verbose) report.detail(`POST ${url} ${response.status} in ${duration(performance.now() - startedAt)}`);
  // The service responds with a Connect content type, or with JSON for an error. A proxy or a web site does not.
  if (!/^application\/(connect\+)?(json|proto)\b/.test(response.headers["content-type"] ?? "")) {
    response.discard();
    throw new UnexpectedResponse(url, response.status);
  }
  return response;
}

async function* readMessages<Output extends DescMessage>(
  output: Output,
  response: HttpResponse,
  signal: AbortSignal | undefined,
  options: TransportOptions,
): AsyncGenerator<MessageShape<Output>> {
  const envelopes = readEnvelopes(response.body, maxResponseBytes);
  for (;;) {
    const { done, value } = await within(signal, options, null, () => envelopes.next());
    if (done === true) {
      throw new ConnectError("The stream ended without its last message.", Code.Unavailable);
    }
    if ((value.flags & endFlag) !== 0) {
      const end = parseJson(value.data) as { error?: unknown } | null;
      if (end?.error !== undefined && end.error !== null) throw errorOf(response, end.error);
      return;
    }
    yield fromBinary(output, value.data, binaryOptions);
  }
}

/** Runs a part of a call. @throws ConnectError for every failure */
async function within<Result>(
  signal: AbortSignal | undefined,
  { baseUrl }: TransportOptions,
  limit: AbortSignal | null,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted) throw ConnectError.from(signal.reason, Code.Canceled);
    if (error instanceof ConnectError) throw error;
    const cause = limit?.aborted ? limit.reason : error;
    throw ConnectError.from(
      error instanceof UnexpectedResponse ? error : new ConnectionFailed(baseUrl, cause),
    );
  }
}

/** The error that a response describes. */
function errorOf({ status }: HttpResponse, description: unknown): ConnectError {
  const fallback = new ConnectError(`HTTP ${status}`, codeOf(status));
  try {
    return errorFromJson(description as Parameters<typeof errorFromJson>[0], undefined, fallback);
  } catch {
    return fallback;
  }
}

/** The code of a response without an error of the protocol, which a proxy may send. */
function codeOf(status: number): Code {
  if (status === 401) return Code.Unauthenticated;
  if (status === 403) return Code.PermissionDenied;
  if (status === 404) return Code.Unimplemented;
  return [429, 502, 503, 504].includes(status) ? Code.Unavailable : Code.Unknown;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of chunks) {
    size += part.length;
    if (size > maxResponseBytes) throw new ConnectError("The response is too large.", Code.ResourceExhausted);
    parts.push(part);
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** Null when the text is not JSON. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  } catch {
    return null;
  }
}
