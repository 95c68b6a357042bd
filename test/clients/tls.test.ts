/** @grpc/grpc-js, the client of grpc-health-check and connections that stay open, over TLS. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, getCACertificates, setDefaultCACertificates } from "node:tls";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { service as health } from "grpc-health-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/google/rpc/status_pb.ts";
import { createCertificates } from "../plugin/certificate.ts";
import { reuseAfterPause } from "../support/idle.ts";
import { deploy } from "../support/project.ts";
import { onRuntime } from "../support/suite.ts";
import { GrpcJs, type Message } from "./grpc-js.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-clients-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { authority, certificate, key } = createCertificates(["localhost"]);
const [certFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
writeFileSync(certFile, certificate);
writeFileSync(keyFile, key);
// For the requests of the test server and of `deploy`; the clients under test get the authority themselves.
// Not in addition to that of another test file in this process, which has the same name.
setDefaultCACertificates([...getCACertificates("bundled"), authority]);

const args = ["--host", "localhost", "--tls-cert", certFile, "--tls-key", keyFile];
const executions = "svc.v1.ExecutionService";

onRuntime("node", "clients over TLS", { args }, (server) => {
  let client = new GrpcJs("https://localhost:1", null);
  beforeAll(async () => {
    await deploy(server, { agents: { echo: "export default (input) => input;" } });
    client = new GrpcJs(server.url, server.apiKey, Buffer.from(authority));
  });
  afterAll(() => client.close());

  test("@grpc/grpc-js runs an execution and streams it to its end", async () => {
    const run = { name: "echo", input: { fields: {} } };
    const { execution_id } = await client.unary(`${executions}/RunExecution`, run);
    const stream = client.serverStream(`${executions}/WatchExecution`, { execution_id });
    const events = (await Array.fromAsync(stream as AsyncIterable<Message>)) as { execution?: Message }[];
    expect(events.flatMap(({ execution }) => execution?.status ?? []).at(-1)).toBe("succeeded");
  });

  test("@grpc/grpc-js reads the details of an error", async () => {
    const invalid = { status: "done", page_size: -1 };
    const error = await client.unary(`${executions}/ListExecutions`, invalid).then(
      () => null,
      (reason: grpc.ServiceError) => reason,
    );
    expect(error?.code).toBe(grpc.status.INVALID_ARGUMENT);
    const [bytes = ""] = error?.metadata.get("grpc-status-details-bin") ?? [];
    const { code, message, details } = fromBinary(StatusSchema, Buffer.from(bytes));
    expect([code, message]).toEqual([error?.code, error?.details]);
    expect(details.flatMap((any) => anyUnpack(any, ErrorInfoSchema) ?? [])).toMatchObject([
      { reason: "INVALID_FIELD", domain: "svc" },
    ]);
    const [violations] = details.flatMap((any) => anyUnpack(any, BadRequestSchema) ?? []);
    expect(violations?.fieldViolations.map(({ field }) => field)).toEqual(["status", "page_size"]);
  });

  test("the contract of grpc-health-check checks and watches the health", async () => {
    const Health = grpc.makeClientConstructor(health, "grpc.health.v1.Health");
    const credentials = grpc.credentials.createSsl(Buffer.from(authority));
    const checker = new Health(new URL(server.url).host, credentials) as unknown as HealthClient &
      grpc.Client;
    onTestFinished(() => checker.close());
    const status = await new Promise((resolve, reject) => {
      checker.check({ service: executions }, (error, response) =>
        error === null ? resolve(response?.status) : reject(error),
      );
    });
    expect(status).toBe("SERVING");
    const watch = checker.watch({ service: "" });
    watch.on("error", () => {});
    const first = await new Promise((resolve) => watch.once("data", resolve));
    watch.cancel();
    expect(first).toEqual({ status: "SERVING" });
  });

  test("an idle connection of HTTP/1.1 stays open", async () => {
    const { port } = new URL(server.url);
    const options = { port: Number(port), host: "localhost", ca: authority, ALPNProtocols: ["http/1.1"] };
    const statuses = await reuseAfterPause(connect(options));
    expect(statuses).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
  });
});

interface HealthClient {
  check(
    request: { service: string },
    done: (error: grpc.ServiceError | null, response?: { status: string }) => void,
  ): void;
  watch(request: { service: string }): grpc.ClientReadableStream<unknown>;
}
