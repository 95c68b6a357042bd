/** Sizes of messages, and pages of lists. */
import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { WebhookService } from "../../../proto/svc/v1/webhook_pb.ts";
import { deploy } from "../../support/project.ts";
import { call, ok, runToEnd } from "../../support/rest.ts";
import type { ExecutionJson, ExecutionPage, WebhookListJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

/** The default limit of gRPC clients. */
const grpcLimit = 4 * 1024 * 1024;

const numbers = process.env.ALL_RUNTIMES === undefined ? 450_000 : 1_900_000;

const agents = {
  echo: { code: "export default (input) => input;", webhooks: [{ slug: "a" }, { slug: "b" }] },
  // 0.9 MB of JSON, and 5 MB as a protobuf message; `npm run test:runtimes` has 3.8 MB and over 20 MB.
  numbers: `export default () => new Array(${numbers}).fill(1);`,
  // Just under the limit of outputs.
  text: { code: "export default () => 'x'.repeat(4 * 2 ** 20 - 2);", webhooks: [{ slug: "text" }] },
  other: { code: "export default () => 1;", webhooks: [{ slug: "c" }] },
};

onRuntime("node", "messages", {}, (server) => {
  beforeAll(async () => {
    await deploy(server, { agents });
    await deploy(server, { agents: { ...agents, other: "export default () => 2;" } });
  });

  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${server.apiKey}`);
    return next(request);
  };
  const options = () => ({ baseUrl: server.url, interceptors: [authorize] });
  const limited = () => createGrpcTransport({ ...options(), readMaxBytes: grpcLimit });
  const unlimited = () => createConnectTransport({ ...options(), httpVersion: "1.1" });
  const grpc = () => createClient(ExecutionService, limited());

  describe("an output over the limit of gRPC clients", () => {
    test.each(["numbers", "text"])("is left out and can be downloaded: %s", async (name) => {
      const { execution_id: executionId, output } = await runToEnd(server, name);
      const shown = await grpc().getExecution({ executionId });
      expect([shown.status, shown.output, shown.outputOmitted]).toEqual(["succeeded", undefined, true]);
      const chunks: Uint8Array[] = [];
      for await (const { data } of grpc().downloadExecution({ executionId, field: "output" }))
        chunks.push(data);
      expect(JSON.parse(Buffer.concat(chunks).toString()) as unknown).toEqual(output);
      for await (const { event } of grpc().watchExecution({ executionId })) {
        if (event.case === "execution") expect(event.value.outputOmitted).toBe(true);
      }
      const { executions: listed } = await grpc().listExecutions({ name, view: "full" });
      expect(listed.map((one) => one.outputOmitted)).toEqual([true]);
      const whole = createClient(ExecutionService, unlimited());
      expect((await whole.getExecution({ executionId })).outputOmitted).toBe(false);
    });

    test("is left out of the response to a trigger and to a redelivery that waited", async () => {
      const { organization } = await ok<WebhookListJson>(server, "GET", "/api/v1/webhooks/list");
      const path = `/webhook/${organization.org_id}/agent/text/text`;
      const wait = { headers: { prefer: "wait=30" } };
      await ok(server, "POST", path, { json: {}, ...wait });
      const { deliveries } = await ok<{ deliveries: { delivery_id: string }[] }>(
        server,
        "GET",
        "/api/v1/webhooks/deliveries?name=text",
      );
      const deliveryId = deliveries[0]?.delivery_id ?? "";
      const triggered = { orgId: organization.org_id, agentName: "text", slug: "text", payload: {} };
      const calls = async (transport: Transport) => {
        const client = createClient(WebhookService, transport);
        return [
          await client.triggerWebhook(triggered, wait),
          await client.redeliverWebhook({ deliveryId }, wait),
        ];
      };
      for (const response of await calls(limited())) {
        expect([response.status, response.output, response.outputOmitted]).toEqual([
          "succeeded",
          undefined,
          true,
        ]);
        const { executionId } = response;
        const chunks = await Array.fromAsync(grpc().downloadExecution({ executionId, field: "output" }));
        expect(Buffer.concat(chunks.map(({ data }) => data)).length).toBe(4 * 2 ** 20);
      }
      for (const response of await calls(unlimited())) {
        expect([response.outputOmitted, response.output?.kind.case]).toEqual([false, "stringValue"]);
      }
    });

    test("of a page ends the page early", async () => {
      const input = { text: "x".repeat(900_000) };
      for (let round = 0; round < 6; round++) await runToEnd(server, "echo", input);
      const seen: number[] = [];
      let pageToken = "";
      do {
        const page = await grpc().listExecutions({ name: "echo", view: "full", pageToken });
        seen.push(page.executions.length);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(seen.length).toBeGreaterThan(2);
      expect(seen.reduce((sum, size) => sum + size)).toBe(6);
      const [summary] = (await grpc().listExecutions({ name: "echo" })).executions;
      expect([summary?.input, summary?.output]).toEqual([undefined, undefined]);
    });
  });

  test("pages are stable when executions are added, and their size is reduced to the maximum", async () => {
    for (let round = 0; round < 4; round++) await runToEnd(server, "other");
    const list = (query: string) =>
      ok<ExecutionPage>(server, "GET", `/api/v1/executions?name=other&${query}`);
    const all = (await list("page_size=5000")).executions.map(idOf);
    const first = await list("page_size=2");
    await runToEnd(server, "other");
    const second = await list(`page_size=2&page_token=${first.next_page_token}`);
    expect([...first.executions, ...second.executions].map(idOf)).toEqual(all);
  });

  test.each([
    ["deployments", "deployments"],
    ["keys", "keys"],
    ["secrets", "secrets"],
    ["schedules", "schedules"],
    ["webhooks/list", "agents"],
    ["webhooks/deliveries", "deliveries"],
  ])("lists %s in pages of one", async (path, plural) => {
    if (path === "keys") await ok(server, "POST", "/api/v1/keys", { json: { name: "second" } });
    if (path === "secrets") {
      for (const name of ["B", "a"])
        await ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value: "x" } });
    }
    type Page = { next_page_token: string } & Record<string, unknown[]>;
    const all = (await ok<Page>(server, "GET", `/api/v1/${path}`))[plural] ?? [];
    const found: unknown[] = [];
    let token = "";
    do {
      const page = await ok<Page>(server, "GET", `/api/v1/${path}?page_size=1&page_token=${token}`);
      found.push(...(page[plural] ?? []));
      token = page.next_page_token;
    } while (token !== "");
    expect(found).toEqual(all);
    const negative = await call(server, "GET", `/api/v1/${path}?page_size=-1`);
    expect(negative.status).toBe(400);
  });
});

function idOf({ execution_id }: ExecutionJson): string {
  return execution_id;
}
