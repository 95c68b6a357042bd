/** Corrections of responses that the Connect library makes. Its own errors come from a router of the library. */
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createConnectRouter } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../proto/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/google/rpc/status_pb.ts";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { fail } from "../../server/errors.ts";
import { corrected } from "../../server/routes/rpc/corrected.ts";

const requests = {
  Connect: ["application/proto", "GetExecution"],
  "Connect streaming": ["application/connect+proto", "WatchExecution"],
  "gRPC-Web": ["application/grpc-web+proto", "GetExecution"],
  "gRPC-Web streaming": ["application/grpc-web+proto", "WatchExecution"],
  gRPC: ["application/grpc+proto", "GetExecution"],
  "gRPC streaming": ["application/grpc+proto", "WatchExecution"],
} as const;

interface Outcome {
  code: string | undefined;
  message: string;
  reasons: string[];
  body: string;
}

describe.each(Object.entries(requests))("over %s", (_, [type, method]) => {
  const send = (message: Uint8Array, error: ConnectError | null) => outcomeOf(type, method, message, error);
  const valid = new Uint8Array([0x0a, 1, 0x61]);

  test("gives a message that cannot be decoded a code and a reason", async () => {
    expect(await send(new Uint8Array([0x0a, 0xff]), null)).toMatchObject({
      code: "InvalidArgument",
      reasons: ["INVALID_MESSAGE"],
    });
  });

  test("gives a message over the limit a reason", async () => {
    expect(await send(new Uint8Array(2_000), null)).toMatchObject({
      code: "ResourceExhausted",
      reasons: ["BODY_TOO_LARGE"],
    });
  });

  test("gives another error without details the reason of its code", async () => {
    const error = new ConnectError("é: 100%", Code.Unavailable);
    const outcome = await send(valid, error);
    expect(outcome).toMatchObject({ code: "Unavailable", message: "é: 100%", reasons: ["UNAVAILABLE"] });
  });

  test("leaves the details of the service", async () => {
    const error = fail("EXECUTION_FAILED", "No: é%", { metadata: { execution_id: "exe_1" } });
    expect(await send(valid, error)).toMatchObject({ message: "No: é%", reasons: ["EXECUTION_FAILED"] });
  });

  test("leaves a success", async () => {
    const { code, body } = await send(valid, null);
    expect(code).toBeUndefined();
    expect(body).toContain("exe_found");
  });
});

/** The response to a request with one message, corrected and read. */
async function outcomeOf(
  type: string,
  method: string,
  message: Uint8Array,
  error: ConnectError | null,
): Promise<Outcome> {
  const answer = { executionId: "exe_found" };
  const router = createConnectRouter({ readMaxBytes: 1_000 }).service(ExecutionService, {
    getExecution() {
      if (error !== null) throw error;
      return answer;
    },
    async *watchExecution() {
      if (error !== null) throw error;
      yield { event: { case: "execution", value: answer } } as const;
    },
  });
  const handler = router.handlers.find((one) => one.method.name === method);
  if (handler === undefined) throw new Error(`There is no method ${method}.`);
  const isGrpc = type.startsWith("application/grpc+");
  const result = await handler({
    httpVersion: isGrpc ? "2" : "1.1",
    url: `http://localhost${handler.requestPath}`,
    method: "POST",
    header: new Headers({ "content-type": type }),
    body: once(type === "application/proto" ? message : envelope(message)),
    signal: new AbortController().signal,
  });
  return read(await corrected(result));
}

async function read({ status, header, body, trailer }: UniversalServerResponse): Promise<Outcome> {
  const bytes = Buffer.concat(await Array.fromAsync(body ?? []));
  const type = new Headers(header).get("content-type") ?? "";
  if (trailer !== undefined) return fromTrailer(trailer, bytes.toString());
  if (type.startsWith("application/grpc-web")) {
    const lines = lastEnvelope(bytes).trim().split("\r\n");
    const pairs = lines.map((line): [string, string] => [
      line.split(":", 1)[0] ?? "",
      line.slice(line.indexOf(":") + 1),
    ]);
    return fromTrailer(new Headers(pairs), bytes.toString());
  }
  if (type.startsWith("application/connect+")) {
    const { error } = JSON.parse(lastEnvelope(bytes)) as { error?: ErrorJson };
    return fromJson(error, bytes.toString());
  }
  return fromJson(status === 200 ? undefined : (JSON.parse(bytes.toString()) as ErrorJson), bytes.toString());
}

interface ErrorJson {
  code: string;
  message: string;
  details: { debug: { reason?: string } }[];
}

function fromJson(error: ErrorJson | undefined, body: string): Outcome {
  const code = codeFromString(error?.code as "internal");
  return {
    code: code && Code[code],
    message: error?.message ?? "",
    reasons: error?.details.flatMap(({ debug }) => debug.reason ?? []) ?? [],
    body,
  };
}

function fromTrailer(trailer: Headers, body: string): Outcome {
  const code = Number(trailer.get("grpc-status"));
  const details = Buffer.from(trailer.get("grpc-status-details-bin") ?? "", "base64");
  return {
    code: code === 0 ? undefined : Code[code],
    message: decodeURIComponent(trailer.get("grpc-message") ?? ""),
    reasons: fromBinary(StatusSchema, details).details.flatMap(
      (detail) => anyUnpack(detail, ErrorInfoSchema)?.reason ?? [],
    ),
    body,
  };
}

function lastEnvelope(bytes: Buffer): string {
  let rest = bytes;
  for (;;) {
    const end = 5 + rest.readUInt32BE(1);
    if (end >= rest.byteLength) return rest.subarray(5).toString();
    rest = rest.subarray(end);
  }
}

function envelope(message: Uint8Array): Uint8Array {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([prefix, message]);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
