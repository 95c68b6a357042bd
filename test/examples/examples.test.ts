/**
 * Deploys every example to one server and runs it: first its samples without secrets, then as its README describes, with
 * signed webhooks, schedules and retries. The tests of this file depend on their order.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findSamples } from "../../cli/local/samples.ts";
import { packFiles } from "../../project/pack.ts";
import { prepareProject } from "../../project/prepare.ts";
import { upload } from "../support/project.ts";
import { call, ended, ok, runToEnd } from "../support/rest.ts";
import { root } from "../support/runtimes.ts";
import type { AcceptedJson, ExecutionPage, ScheduleJson, WebhookListJson } from "../support/shapes.ts";
import { useServer } from "../support/suite.ts";
import { senders } from "../webhooks/signers.ts";
import { Fakes } from "./fakes.ts";

const server = useServer("node");
const fakes = new Fakes();
const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const secrets: Record<string, string> = {
  GITHUB_SECRET: "github-signing-secret",
  GITHUB_TOKEN: "github-token-of-the-test",
  STRIPE_SECRET: "whsec_stripe-signing-secret",
  SHOP_SECRET: `whsec_${Buffer.from("signing secret of the shop").toString("base64")}`,
  ASK_TOKEN: "token-of-the-webhook",
  MODEL_KEY: "model-key-of-the-test",
};

beforeAll(async () => {
  await fakes.start();
  Object.assign(secrets, {
    GITHUB_API_URL: fakes.url,
    CHAT_URL: `${fakes.url}/chat`,
    SHOP_URL: fakes.url,
    REPORT_URL: `${fakes.url}/report`,
    MODEL_URL: fakes.url,
    PAYMENT_URL: fakes.url,
  });
  for (const name of examples) await deployFolder(join(root, "examples", name));
});
afterAll(() => fakes.stop());

/** Validates, packs and deploys a project as `svc push` does. */
async function deployFolder(folder: string): Promise<void> {
  const { files, problems } = await prepareProject(folder);
  expect(problems).toEqual([]);
  const packed = await packFiles(files);
  const bytes = new Uint8Array(readFileSync(packed.path));
  packed.remove();
  await upload(server, { bytes, digest: packed.digest });
  await ok(server, "POST", "/api/v1/deployments", { json: { digest: packed.digest } });
}

/** Sends a payload to the webhook with a slug. */
async function send(slug: string, payload: unknown, headers: (body: Uint8Array) => object) {
  const list = await ok<WebhookListJson>(server, "GET", "/api/v1/webhooks/list");
  const url = [...list.agents, ...list.workflows]
    .flatMap(({ webhooks }) => webhooks)
    .find((webhook) => webhook.slug === slug)?.url;
  const body = new TextEncoder().encode(JSON.stringify(payload));
  const all = { ...headers(body), "content-type": "application/json" };
  return call<AcceptedJson>(server, "POST", url ?? "", { body, key: null, headers: all });
}

/** Sends a signed payload and waits for the end of the execution. */
async function trigger(slug: string, payload: unknown, headers: (body: Uint8Array) => object) {
  const answer = await send(slug, payload, headers);
  expect(answer.status, answer.text).toBe(202);
  return ended(server, answer.json.execution_id);
}

const signed =
  (scheme: string, secret: string, more: object = {}) =>
  (body: Uint8Array): object => ({
    ...senders[scheme]?.sign(secrets[secret] ?? "", body, Math.floor(Date.now() / 1000)),
    ...more,
  });

const sample = (path: string) => JSON.parse(readFileSync(join(root, "examples", path), "utf8"));

describe("without secrets", () => {
  test.each(examples)("the inputs in the samples of %s succeed", async (name) => {
    const folder = join(root, "examples", name);
    const { definition } = await prepareProject(folder);
    if (definition === null) throw new Error("The project file is not valid.");
    const { cases, unknown } = await findSamples(folder, definition);
    expect(unknown).toEqual([]);
    expect(cases.length).toBeGreaterThan(0);
    for (const { target, webhook, file } of cases) {
      // The tests below send the payloads of webhooks.
      if (webhook !== null) continue;
      const execution = await runToEnd(server, target.name, sample(join(name, file)));
      expect(execution.status, file).toBe("succeeded");
    }
    expect(fakes.calls).toEqual([]);
  });
});

test("the server takes the secrets", async () => {
  for (const [name, value] of Object.entries(secrets)) {
    await ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value } });
  }
});

test("github-triage labels new issues, ignores other events and rejects other senders", async () => {
  const path = "/repos/octocat/hello-world/issues/42/labels";
  fakes.answer(path, { status: 502 }, { body: [] });
  const issue = sample("github-triage/samples/triage.github.json");
  const event = (delivery: string) =>
    signed("github", "GITHUB_SECRET", { "x-github-event": "issues", "x-github-delivery": delivery });
  const execution = await trigger("github", issue, event("d-1"));
  expect(execution).toMatchObject({
    status: "succeeded",
    attempt: 2,
    output: { labels: ["documentation"], applied: true },
  });
  expect(fakes.callsTo(path).map(({ body }) => body)).toEqual([
    { labels: ["documentation"] },
    { labels: ["documentation"] },
  ]);
  expect(fakes.callsTo(path)[0]?.headers.authorization).toBe(`Bearer ${secrets.GITHUB_TOKEN}`);
  const ignored = await send("github", { ...issue, action: "closed" }, event("d-2"));
  expect(ignored.json).toEqual({ status: "ignored" });
  expect((await send("github", issue, () => ({ "x-hub-signature-256": "sha256=00" }))).status).toBe(401);
});

test("github-triage does not retry what GitHub refuses", async () => {
  fakes.answer("/repos/octocat/hello-world/issues/7/labels", { status: 403 });
  const execution = await runToEnd(server, "triage", sample("github-triage/samples/triage.json"));
  expect(execution).toMatchObject({ status: "failed", attempt: 1, error: { name: "FinalError" } });
});

test("stripe-to-chat posts once, after a retry, and a repeated event changes nothing", async () => {
  fakes.answer("/chat", { status: 503 }, {});
  const event = sample("stripe-to-chat/samples/notify.stripe.json");
  const execution = await trigger("stripe", event, signed("stripe", "STRIPE_SECRET"));
  expect(execution).toMatchObject({ status: "succeeded", attempt: 2, output: { posted: true } });
  const repeat = await send("stripe", event, signed("stripe", "STRIPE_SECRET"));
  expect(repeat.headers.get("idempotent-replayed")).toBe("true");
  expect(repeat.json.execution_id).toBe(execution.execution_id);
  expect(fakes.callsTo("/chat").at(-1)?.body).toEqual({
    text: "[test] *Payment failed* · in_1 · customer cus_1 · 42.00 EUR",
  });
});

test("nightly-report has a schedule, and sends the report when it is run", async () => {
  const schedule = await ok<ScheduleJson>(server, "GET", "/api/v1/schedules/report");
  expect(schedule).toMatchObject({ cron: "30 6 * * 1-5", timezone: "Europe/Berlin", input: { days: 1 } });
  expect(schedule.next_run_at).toMatch(/T0[45]:30:00/);
  fakes.answer("/orders", {
    body: [
      { product: "tea", cents: 450 },
      { product: "cup", cents: 900 },
    ],
  });
  fakes.answer("/report", {});
  const execution = await runToEnd(server, "report", schedule.input);
  const text = "2 orders, 13.50 EUR\ncup: 9.00 EUR\ntea: 4.50 EUR";
  expect(execution).toMatchObject({ status: "succeeded", output: { orders: 2, text, sent: true } });
  const [report] = fakes.callsTo("/report");
  expect(report).toMatchObject({ body: { text }, headers: { "idempotency-key": execution.execution_id } });
});

test("ai-agent runs the tools that the model calls, and answers the webhook", async () => {
  const toolCall = {
    id: "call_1",
    type: "function",
    function: { name: "find_order", arguments: '{"id":"1001"}' },
  };
  const answerOf = (message: object) => ({ body: { choices: [{ message }], usage: { total_tokens: 42 } } });
  fakes.answer(
    "/chat/completions",
    { status: 429 },
    answerOf({ role: "assistant", content: null, tool_calls: [toolCall] }),
    answerOf({ role: "assistant", content: "It was shipped with DHL." }),
  );
  const question = sample("ai-agent/samples/assistant.ask.json");
  const answer = await send("ask", question, () => ({ "x-token": secrets.ASK_TOKEN }));
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({ answer: "It was shipped with DHL.", turns: 2 });
  const last = fakes.callsTo("/chat/completions").at(-1);
  expect(last?.headers.authorization).toBe(`Bearer ${secrets.MODEL_KEY}`);
  expect(last?.body).toMatchObject({
    model: "gpt-4o-mini",
    tools: [{ function: { name: "find_order" } }],
    messages: [
      { role: "system" },
      { role: "user", content: question.question },
      { tool_calls: [toolCall] },
      { role: "tool", tool_call_id: "call_1", content: '{"status":"shipped","carrier":"DHL"}' },
    ],
  });
  expect((await send("ask", question, () => ({ "x-token": "another" }))).status).toBe(401);
});

test("order-workflow charges once, after a retry of the payment", async () => {
  fakes.answer("/charges", { status: 503 }, { body: { id: "pay_1" } });
  const order = sample("order-workflow/samples/fulfil.order.json");
  const execution = await trigger("order", order, signed("standard", "SHOP_SECRET"));
  expect(execution).toMatchObject({
    status: "succeeded",
    attempt: 1,
    output: { id: "o-2", status: "shipped", payment: { payment: "pay_1", cents: 450 } },
  });
  expect(fakes.callsTo("/charges").map(({ headers }) => headers["idempotency-key"])).toEqual([
    "charge-o-2",
    "charge-o-2",
  ]);
  const { executions } = await ok<ExecutionPage>(server, "GET", "/api/v1/executions?name=charge");
  expect(executions[0]).toMatchObject({ attempt: 2, parent_execution_id: execution.execution_id });
});

test("order-workflow releases the items when the card is declined", async () => {
  fakes.answer("/charges", { status: 402 });
  const execution = await runToEnd(server, "fulfil", sample("order-workflow/samples/fulfil.json"));
  expect(execution).toMatchObject({
    status: "succeeded",
    output: { status: "cancelled", reason: expect.stringContaining("declined") },
  });
  const released = await ok<ExecutionPage>(server, "GET", "/api/v1/executions?name=release");
  expect(released.executions).toHaveLength(2);
});
