/** Calls of @grpc/grpc-js, with the files of the contract and no code of this package. */
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { onEveryRuntime } from "../support/suite.ts";
import { GrpcJs, type Message } from "./grpc-js.ts";

const agents = {
  echo: "export default (input) => input;",
  waits: "export default () => new Promise(() => {});",
};
const service = "svc.v1.ExecutionService";

onEveryRuntime("@grpc/grpc-js", {}, (server) => {
  let client = new GrpcJs("http://127.0.0.1:1", null);
  beforeAll(async () => {
    await deploy(server, { agents });
    client = new GrpcJs(server.url, server.apiKey);
  });
  afterAll(() => client.close());
  const run = (name: string) => client.unary(`${service}/RunExecution`, { name, input: { fields: {} } });

  test("runs an execution and streams it to its end", async () => {
    const { execution_id } = await run("echo");
    const events = (await Array.fromAsync(
      client.serverStream(`${service}/WatchExecution`, { execution_id }) as AsyncIterable<Message>,
    )) as { execution?: Message }[];
    expect(events.flatMap(({ execution }) => execution?.status ?? []).at(-1)).toBe("succeeded");
  });

  test("gets the code, the message and the trailers of an error", async () => {
    const id = "a:b,c#é%";
    const error = await failure(client.unary(`${service}/GetExecution`, { execution_id: id }));
    expect([error.code, error.details]).toEqual([grpc.status.NOT_FOUND, expect.stringContaining(id)]);
    const anonymous = new GrpcJs(server.url, null);
    const refused = await failure(anonymous.unary(`${service}/ListExecutions`, {}));
    anonymous.close();
    expect(refused.code).toBe(grpc.status.UNAUTHENTICATED);
    expect(refused.metadata.get("www-authenticate")).toEqual(["Bearer"]);
    expect(refused.metadata.get("grpc-status-details-bin")).toHaveLength(1);
  });

  test("ends at its deadline", async () => {
    const { execution_id } = await run("waits");
    const deadline = Date.now() + 500;
    const stream = client.serverStream(`${service}/WatchExecution`, { execution_id }, { deadline });
    const read = Array.fromAsync(stream as AsyncIterable<Message>);
    expect((await failure(read)).code).toBe(grpc.status.DEADLINE_EXCEEDED);
    const late = client.unary(`${service}/ListExecutions`, {}, { deadline: Date.now() - 1 });
    expect((await failure(late)).code).toBe(grpc.status.DEADLINE_EXCEEDED);
    await client.unary(`${service}/CancelExecution`, { execution_id });
  });

  test("cancels a stream, and keeps its connection", async () => {
    const stream = client.serverStream(`${service}/TailLogs`, { follow: true, lines: 0 });
    const read = Array.fromAsync(stream as AsyncIterable<Message>);
    await new Promise((resolve) => stream.once("metadata", resolve));
    stream.cancel();
    expect((await failure(read)).code).toBe(grpc.status.CANCELLED);
    expect(await client.unary(`${service}/ListExecutions`, {})).toHaveProperty("executions");
  });

  test("gets not_found for the health of an unknown service", async () => {
    const method = "grpc.health.v1.Health/Check";
    expect((await failure(client.unary(method, { service: "none" }))).code).toBe(grpc.status.NOT_FOUND);
  });
});

async function failure(promise: Promise<unknown>): Promise<grpc.ServiceError> {
  try {
    await promise;
  } catch (error) {
    return error as grpc.ServiceError;
  }
  throw new Error("The call did not fail.");
}
