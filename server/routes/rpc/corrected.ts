/**
 * Corrections of the responses of the Connect library. Errors that it raises itself have no details, and some have the code
 * `internal` although the client caused them.
 */
import type { JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeFromString, errorFromJson } from "@connectrpc/connect/protocol-connect";
import { fromLibrary, grpcDetails } from "../../errors/library.ts";
import { errorJson, httpStatusOf } from "../../errors.ts";

const detailsHeader = "grpc-status-details-bin";
/** Flags of the last envelope of a stream. */
export const connectEnd = 0b0000_0010;
export const grpcWebTrailers = 0b1000_0000;
const compressed = 0b0000_0001;
const prefixBytes = 5;

export async function corrected(result: UniversalServerResponse): Promise<UniversalServerResponse> {
  const { status, body, trailer, header } = result;
  if (body === undefined || body === null) return result;
  if (trailer !== undefined) return { ...result, body: correctTrailer(body, trailer) };
  const headers = header ?? new Headers();
  if (status === 200) {
    const type = headers.get("content-type") ?? "";
    if (type.startsWith("application/grpc-web"))
      return { ...result, body: correctEnd(body, grpcWebTrailers) };
    return type.startsWith("application/connect+")
      ? { ...result, body: correctEnd(body, connectEnd) }
      : result;
  }
  // The library compresses large errors only, and its own are small.
  if (headers.has("content-encoding")) return result;
  const bytes = Buffer.concat(await Array.fromAsync(body));
  const error = libraryErrorOf(bytes.toString());
  if (error === null) return { ...result, body: once(bytes) };
  const json = Buffer.from(JSON.stringify(errorJson(error)));
  headers.set("content-length", String(json.byteLength));
  return { status: httpStatusOf(error.code), header: headers, body: once(json) };
}

/** The public error for an error JSON without details; null for one of the service. */
function libraryErrorOf(text: string): ConnectError | null {
  const json = JSON.parse(text) as { code?: string; details?: unknown };
  if (json.details !== undefined || json.code === undefined) return null;
  const code = codeFromString(json.code) ?? Code.Internal;
  const fallback = new ConnectError("The service failed to process the request.", code);
  return fromLibrary(errorFromJson(json as JsonValue, undefined, fallback));
}

/**
 * Corrects the trailers of gRPC, which are complete when the body ends. The gRPC specification percent-encodes only `%` and
 * bytes outside of printable ASCII; the library encodes more, and @grpc/grpc-js does not decode all of it.
 */
async function* correctTrailer(
  body: AsyncIterable<Uint8Array>,
  trailer: Headers,
): AsyncGenerator<Uint8Array> {
  yield* body;
  const encoded = trailer.get("grpc-message");
  const code = Number(trailer.get("grpc-status") ?? 0);
  if (code === 0) return;
  const message = encoded === null ? "" : decodeURIComponent(encoded);
  if (trailer.has(detailsHeader)) return trailer.set("grpc-message", percentEncode(message));
  const error = fromLibrary(new ConnectError(message, code));
  trailer.set("grpc-status", String(error.code));
  trailer.set("grpc-message", percentEncode(error.rawMessage));
  trailer.set(detailsHeader, grpcDetails(error));
}

/** The value of `grpc-message`. */
export function percentEncode(message: string): string {
  return message.replaceAll(/[^ -$&-~]+/g, (text) => encodeURIComponent(text));
}

/** Corrects the last envelope of a body. The library yields one envelope at a time. */
async function* correctEnd(body: AsyncIterable<Uint8Array>, flag: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    const flags = chunk[0] ?? 0;
    const isEnd = (flags & flag) !== 0 && (flags & compressed) === 0;
    yield isEnd ? correctEnvelope(chunk, flag) : chunk;
  }
}

function correctEnvelope(chunk: Uint8Array, flag: number): Uint8Array {
  const text = Buffer.from(chunk.subarray(prefixBytes)).toString();
  const data = flag === connectEnd ? correctConnectEnd(text) : correctGrpcWebTrailers(text);
  if (data === null) return chunk;
  const bytes = Buffer.from(data);
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(bytes.byteLength, 1);
  return Buffer.concat([prefix, bytes]);
}

function correctConnectEnd(text: string): string | null {
  const end = JSON.parse(text) as { error?: unknown; metadata?: unknown };
  if (end.error === undefined) return null;
  const error = libraryErrorOf(JSON.stringify(end.error));
  return error === null ? null : JSON.stringify({ ...end, error: errorJson(error) });
}

function correctGrpcWebTrailers(text: string): string | null {
  const trailer = new Headers();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) trailer.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const code = Number(trailer.get("grpc-status") ?? 0);
  if (code === 0 || trailer.has(detailsHeader)) return null;
  const error = fromLibrary(new ConnectError(decodeURIComponent(trailer.get("grpc-message") ?? ""), code));
  trailer.set("grpc-status", String(error.code));
  trailer.set("grpc-message", percentEncode(error.rawMessage));
  trailer.set(detailsHeader, grpcDetails(error));
  return [...trailer].map(([name, value]) => `${name}: ${value}\r\n`).join("");
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
