/** `on_failure` with a webhook: what is sent, to where, and that a killed server still sends it. */
import { createServer } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPost } from "../../server/executions/alerts/post.ts";
import { deploy, type ProjectSource } from "../support/project.ts";
import { call, ended, ok, runToEnd } from "../support/rest.ts";
import type { DeploymentJson, ExecutionJson } from "../support/shapes.ts";
import { onRuntime } from "../support/suite.ts";
import { Receiver } from "./receiver.ts";

const secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
const planted = "planted-secret-value";

// `tls.test.ts` sends on every runtime.
onRuntime("node", "a webhook for failures", {}, (server) => {
  const receiver = new Receiver();
  let deployment: DeploymentJson;
  let url = "";
  beforeAll(async () => {
    url = await receiver.start();
    const project: ProjectSource = {
      name: "shop",
      agents: {
        fails: {
          code: "export default (input, { secrets }) => { throw new TypeError('No stock: ' + secrets.PLANTED); };",
          enable_retry: true,
          retry_policy: { max_retries: 1, initial_delay: 0, max_delay: 0 },
        },
      },
      on_failure: { url, secret: "ALERTS" },
    };
    for (const [name, value] of [
      ["PLANTED", planted],
      ["ALERTS", secret],
    ]) {
      await ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value } });
    }
    deployment = await deploy(server, project);
  });
  afterAll(() => receiver.stop());

  test("gets one signed request for a failure, in the Standard Webhooks format", async () => {
    const failed = await runToEnd(server, "fails");
    expect([failed.status, failed.attempt]).toEqual(["failed", 2]);
    const [request] = await receiver.received(1);
    const headers = request?.headers as Record<string, string>;
    const payload = new Webhook(secret).verify(request?.body ?? "", headers);
    expect(payload).toEqual({
      type: "execution.failed",
      timestamp: failed.finished_at,
      data: {
        execution_id: failed.execution_id,
        kind: "agent",
        name: "fails",
        trigger: "run",
        project: "shop",
        version: "1.0.0",
        deployment_id: deployment.deployment_id,
        environment: "production",
        attempts: 2,
        error: { name: "TypeError", message: expect.stringMatching(/^No stock: (?!planted)/) },
        created_at: failed.created_at,
        path: `/api/v1/executions/${failed.execution_id}`,
        suppressed: 0,
      },
    });
    expect(request?.body).not.toContain(planted);
    expect(headers["content-type"]).toBe("application/json");
    const alert = await ended(server, headers["webhook-id"] ?? "");
    expect(alert).toMatchObject({
      status: "succeeded",
      kind: "alert",
      name: "on_failure",
      trigger: "failure",
      output: { status: 204 },
    });
  });

  test("gets the request again with the same id after an error, also from a server that was killed", async () => {
    const before = receiver.requests.length;
    receiver.statuses.push(500);
    await runToEnd(server, "fails");
    const [refused] = (await receiver.received(before + 1)).slice(before);
    const id = String(refused?.headers["webhook-id"]);
    await server.restart("SIGKILL");
    const requests = (await receiver.received(before + 2)).slice(before);
    for (const { headers, body } of requests) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeTruthy();
    }
    expect(requests.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
    expect((await ended(server, id)).status).toBe("succeeded");
  });

  test("follows no redirect, and is not called again after 410", async () => {
    const before = receiver.requests.length;
    receiver.statuses.push(410);
    await runToEnd(server, "fails");
    const [gone] = (await receiver.received(before + 1)).slice(before);
    const alert = await ended(server, String(gone?.headers["webhook-id"]));
    expect(alert).toMatchObject({ status: "failed", error: { name: "AlertError" } });
    expect(alert.error?.message).toContain("answered 410");
    const listed = await ok<{ executions: ExecutionJson[] }>(
      server,
      "GET",
      "/api/v1/executions?kind=alert&status=failed",
    );
    expect(listed.executions.map(({ execution_id }) => execution_id)).toEqual([alert.execution_id]);
    receiver.statuses.push(302);
    expect(await createPost("all")(new URL(url), "{}", {})).toBe(302);
    expect(receiver.requests).toHaveLength(before + 2);
  });

  test("is reported with the deployment when its secret is not set", async () => {
    expect(deployment.warnings).toEqual([]);
    await ok(server, "DELETE", "/api/v1/secrets/ALERTS");
    const { json } = await call<DeploymentJson>(
      server,
      "GET",
      `/api/v1/deployments/${deployment.deployment_id}`,
    );
    expect(json.warnings).toEqual(["The webhook of on_failure is not called: the secret ALERTS is not set."]);
  });
});

describe("the address of a webhook", () => {
  const post = createPost([]);

  test.each([
    "http://127.0.0.1:1/",
    "http://localhost:1/",
    "http://[::1]:1/",
    "http://[::ffff:127.0.0.1]:1/",
    "http://2130706433:1/",
    "http://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/",
    "http://0.0.0.0:1/",
  ])("%s is refused", async (url) => {
    await expect(post(new URL(url), "{}", {})).rejects.toThrow(/not public/);
  });

  test("is reached when the operator opens it", async () => {
    const receiver = new Receiver();
    const url = new URL(await receiver.start());
    expect(await createPost(["127.0.0.0/8"])(url, "{}", {})).toBe(204);
    url.hostname = "localhost";
    expect(await createPost(["127.0.0.0/8", "::1"])(url, "{}", {})).toBe(204);
    await receiver.stop();
  });

  test.each([
    ["a response that is no HTTP", "SSH-2.0-x\r\n\r\n", 0],
    ["an interim response", "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 200],
    ["headers without an end", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}`, /too long/],
    ["no response", "", /closed the connection/],
  ])("%s", async (_title, answer, expected) => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
    const result = createPost("all")(url, "{}", {});
    if (typeof expected === "number") expect(await result).toBe(expected);
    else await expect(result).rejects.toThrow(expected);
    server.close();
  });
});
