/** Health checking and reflection, with clients of @grpc/grpc-js, Connect and buf. */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../proto/grpc/health/v1/health_pb.ts";
import {
  ServerReflection,
  type ServerReflectionResponse,
} from "../../proto/grpc/reflection/v1/reflection_pb.ts";
import { bareEnvironment, bin, commandRuntimes } from "../support/runtimes.ts";
import { onRuntime } from "../support/suite.ts";
import { GrpcJs, type Message } from "./grpc-js.ts";

const transports: Record<string, (baseUrl: string) => Transport> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  Connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" }),
};

onRuntime("bun", "the standard services", {}, (server) => {
  describe.each(Object.entries(transports))("over %s", (_name, make) => {
    test("report the health without a key", async () => {
      const health = createClient(Health, make(server.url));
      expect((await health.check({})).status).toBe(Status.SERVING);
      expect((await health.check({ service: "svc.v1.ExecutionService" })).status).toBe(Status.SERVING);
      const error = await health.check({ service: "svc.v1.Nothing" }).catch(ConnectError.from);
      expect(error).toMatchObject({ code: Code.NotFound });
      const { statuses } = await health.list({});
      expect(statuses[""]?.status).toBe(Status.SERVING);
      expect(Object.keys(statuses)).toContain("svc.v1.WebhookService");
    });

    test("report SERVICE_UNKNOWN for an unknown service and keep the stream open", async () => {
      const abort = new AbortController();
      const health = createClient(Health, make(server.url));
      const stream = health.watch({ service: "none" }, { signal: abort.signal })[Symbol.asyncIterator]();
      expect((await stream.next()).value?.status).toBe(Status.SERVICE_UNKNOWN);
      const rest = stream.next().catch(ConnectError.from);
      await health.check({});
      abort.abort();
      expect(await rest).toMatchObject({ code: Code.Canceled });
    });

    test("describe the contract without a key", async () => {
      const reflection = createClient(ServerReflection, make(server.url));
      const requests = (async function* () {
        yield { messageRequest: { case: "listServices", value: "" } } as const;
        yield { messageRequest: { case: "fileContainingSymbol", value: "svc.v1.Execution.status" } } as const;
        yield { messageRequest: { case: "fileByFilename", value: "svc/v1/options.proto" } } as const;
        yield { messageRequest: { case: "fileByFilename", value: "none.proto" } } as const;
        yield { messageRequest: { case: undefined } } as const;
      })();
      const answers = await Array.fromAsync(reflection.serverReflectionInfo(requests));
      const [list, symbol, file, missing, nothing] = answers.map(({ messageResponse }) => messageResponse);
      expect(list?.value).toMatchObject({
        service: expect.arrayContaining(
          [{ name: "svc.v1.ExecutionService" }, { name: "grpc.health.v1.Health" }].map((one) =>
            expect.objectContaining(one),
          ),
        ),
      });
      expect(filesOf(symbol)[0]).toBe("svc/v1/execution.proto");
      expect(filesOf(symbol)).toContain("google/protobuf/struct.proto");
      expect(filesOf(file)).toEqual(["svc/v1/options.proto"]);
      expect(missing?.value).toMatchObject({ errorCode: Code.NotFound });
      expect(nothing?.value).toMatchObject({ errorCode: Code.InvalidArgument });
    });
  });

  test("describe extensions in v1 and v1alpha to @grpc/grpc-js", async () => {
    const client = new GrpcJs(server.url, null);
    onTestFinished(() => client.close());
    const containing_type = "google.protobuf.MethodOptions";
    for (const version of ["v1", "v1alpha"]) {
      const method = `grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
      const [numbers, extension, unknown] = await client.bidirectional(method, [
        { all_extension_numbers_of_type: containing_type },
        { file_containing_extension: { containing_type, extension_number: 50001 } },
        { all_extension_numbers_of_type: "svc.v1.Nothing" },
      ]);
      expect(numbers).toMatchObject({
        all_extension_numbers_response: { extension_number: expect.arrayContaining([50001, 72295728]) },
      });
      expect(extension).toMatchObject({ message_response: "file_descriptor_response" });
      expect(unknown).toMatchObject({ error_response: { error_code: grpc.status.NOT_FOUND } });
    }
  });

  test("stream the change to NOT_SERVING and back, and the stop of the server, to @grpc/grpc-js", async () => {
    const client = new GrpcJs(server.url, null);
    onTestFinished(() => client.close());
    const call = client.serverStream("grpc.health.v1.Health/Watch", {});
    const stream = (call as AsyncIterable<Message>)[Symbol.asyncIterator]();
    const next = async () => ((await stream.next()).value as Message | undefined)?.status;
    expect(await next()).toBe("SERVING");
    const uploads = join(server.dataDir, "tmp/uploads");
    rmSync(uploads, { recursive: true });
    expect(await next()).toBe("NOT_SERVING");
    mkdirSync(uploads);
    expect(await next()).toBe("SERVING");
    const last = next();
    const exited = server.kill("SIGTERM");
    expect(await last).toBe("NOT_SERVING");
    expect((await stream.next()).done).toBe(true);
    expect(await exited).toEqual({ code: 0, signal: null });
    await server.start();
  });

  // A program of its own: each of the nine calls takes longer than all other tests of a runtime.
  test.runIf(commandRuntimes("deno").includes(server.runtime)).each([
    ["grpc", "grpc-v1"],
    ["grpcweb", "grpc-v1alpha"],
    ["connect", "grpc-v1"],
  ])("let buf curl call over %s without a schema", async (protocol, reflect) => {
    const run = async (...args: string[]) => {
      const all = [
        "curl",
        "--http2-prior-knowledge",
        "--protocol",
        protocol,
        "--reflect-protocol",
        reflect,
        ...args,
      ];
      return (await promisify(execFile)(bin("buf"), all, { env: bareEnvironment() })).stdout;
    };
    expect(await run("--list-services", server.url)).toContain("svc.v1.DeploymentService");
    const header = `Authorization: Bearer ${server.apiKey}`;
    const health = await run("--header", header, "--data", "{}", `${server.url}/svc.v1.HealthService/Check`);
    expect(JSON.parse(health)).toMatchObject({ status: "ok" });
    const listed = await run(
      "--header",
      header,
      "--data",
      '{"page_size":1}',
      `${server.url}/svc.v1.ExecutionService/ListExecutions`,
    );
    expect(JSON.parse(listed)).toEqual({});
  });
});

function filesOf(response: ServerReflectionResponse["messageResponse"] | undefined): string[] {
  if (response?.case !== "fileDescriptorResponse") throw new Error(`The response is ${response?.case}.`);
  return response.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
}
