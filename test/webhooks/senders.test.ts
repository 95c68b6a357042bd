/** Each sender of `svc webhook add`: added, pushed, delivered with its signature, and received by an agent. */
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requestSources } from "../../cli/local/request-sources.ts";
import { addSender } from "../../cli/project/add-sender.ts";
import { readDefinition } from "../../cli/project/load.ts";
import { type Sender, senders } from "../../cli/senders/index.ts";
import type { ProjectDefinition, SignatureScheme } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { compileMapping } from "../../project/mapping.ts";
import { loadConfig } from "../../server/config.ts";
import { type RunningServer, startServer } from "../../server/server.ts";
import { svc } from "../cli/support.ts";
import { call, ended, ok } from "../support/rest.ts";
import type { AcceptedJson, HealthJson } from "../support/shapes.ts";
import { type Headers, libraries } from "./libraries.ts";
import { certificate, message } from "./sns-messages.ts";

const key = "a secret of the test";
const seconds = Math.floor(Date.now() / 1000);
const hmac = (text: string, encoding: "hex" | "base64" = "hex", algorithm = "sha256") =>
  createHmac(algorithm, key).update(text).digest(encoding);

/** Headers of the senders whose library is not installed or does not sign. */
const signers: Partial<Record<SignatureScheme, (body: string, url: string) => Headers>> = {
  asana: (body) => ({ "x-hook-signature": hmac(body) }),
  bitbucket: (body) => ({ "x-hub-signature": `sha256=${hmac(body)}` }),
  calendly: (body) => ({ "calendly-webhook-signature": `t=${seconds},v1=${hmac(`${seconds}.${body}`)}` }),
  dropbox: (body) => ({ "x-dropbox-signature": hmac(body) }),
  gitlab: () => ({ "x-gitlab-token": key }),
  google: () => ({ "x-goog-channel-token": key }),
  hubspot: (body, url) => ({
    "x-hubspot-request-timestamp": `${seconds}000`,
    "x-hubspot-signature-v3": hmac(`POST${url}${body}${seconds}000`, "base64"),
  }),
  jira: (body) => ({ "x-hub-signature": `sha256=${hmac(body)}` }),
  lemonsqueezy: (body) => ({ "x-signature": hmac(body) }),
  meta: (body) => ({ "x-hub-signature-256": `sha256=${hmac(body)}` }),
  shopify: (body) => ({ "x-shopify-hmac-sha256": hmac(body, "base64") }),
  square: (body, url) => ({ "x-square-hmacsha256-signature": hmac(url + body, "base64") }),
  trello: (body, url) => ({ "x-trello-webhook": hmac(body + url, "base64", "sha1") }),
  typeform: (body) => ({ "typeform-signature": `sha256=${hmac(body, "base64")}` }),
  zoom: (body) => ({
    "x-zm-request-timestamp": `${seconds}`,
    "x-zm-signature": `v0=${hmac(`v0:${seconds}:${body}`)}`,
  }),
};

/** The values of a sample that its sender signs, or that authenticate it, as they are now. */
const refreshed: Record<string, (sample: JsonObject) => JsonObject> = {
  linear: (sample) => ({ ...sample, webhookTimestamp: seconds * 1000 }),
  mailgun: (sample) => ({
    ...sample,
    signature: { timestamp: `${seconds}`, token: "t1", signature: hmac(`${seconds}t1`) },
  }),
  microsoft: ({ value }) => ({
    value: (value as JsonObject[]).map((each) => ({ ...each, clientState: key })),
  }),
  sns: (sample) => {
    const { Signature: _example, ...fields } = sample as Record<string, string>;
    return message({ ...fields, Timestamp: new Date().toISOString() }) as JsonObject;
  },
};

const folder = mkdtempSync(join(tmpdir(), "svc-senders-"));
const project = join(folder, "project");
let server: RunningServer;
let caller = { url: "", apiKey: "" };
let org = "";
let definition: ProjectDefinition;

const schemeOf = ({ webhook }: Sender) =>
  (webhook.signature as { scheme?: SignatureScheme } | undefined)?.scheme;
const libraryOf = (sender: Sender) => libraries.find(({ scheme }) => scheme === schemeOf(sender));

beforeAll(async () => {
  mkdirSync(join(project, "agents"), { recursive: true });
  writeFileSync(join(project, "agents/echo.ts"), "export default (input: unknown) => input;\n");
  writeFileSync(join(project, "svc-project.yaml"), 'name: senders\nversion: "1"\nagents:\n  - name: echo\n');
  for (const sender of senders) await addSender(project, sender, { target: "echo", slug: undefined });
  definition = await readDefinition(project);
  const limits = { SVC_SANDBOX: "none", SVC_WEBHOOK_RATE: "1000", SVC_WEBHOOK_BURST: "1000" };
  server = await startServer(loadConfig({ port: 0, dataDir: join(folder, "data") }, limits), {
    fetchUrl: async () => ({ status: 200, body: certificate() }),
  });
  let apiKey = "";
  await server.open((first) => {
    apiKey = first;
  });
  caller = { url: server.url, apiKey };
  for (const sender of senders) {
    for (const name of Object.keys(sender.secrets)) {
      await ok(caller, "PUT", `/api/v1/secrets/${name}`, {
        json: { value: libraryOf(sender)?.secrets[0] ?? key },
      });
    }
  }
  const env = { SVC_API_KEY: apiKey, SVC_BASE_URL: server.url };
  const pushed = await svc("node", ["push", "--force"], { cwd: project, env });
  expect(pushed, pushed.stderr).toMatchObject({ code: 0 });
  org = (await ok<HealthJson>(caller, "GET", "/health")).organization;
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

test("has at least 15 senders", () => {
  expect(senders.length).toBeGreaterThanOrEqual(15);
  expect(senders.map(({ name }) => name)).toEqual(senders.map(({ name }) => name).toSorted());
});

describe.each(senders)("$name", (sender) => {
  test("reaches the agent with its signature, and not with an altered body", async () => {
    const { name, headers = {} } = sender;
    const scheme = schemeOf(sender);
    const library = libraryOf(sender);
    const sample = refreshed[name]?.(sender.sample) ?? sender.sample;
    const path = `/webhook/${org}/agent/echo/${name}`;
    const url = caller.url + path;
    const body = bodyOf(sender, sample);
    const signed =
      (await library?.sign(body, seconds, url)) ??
      (scheme === undefined ? {} : signers[scheme]?.(body, url)) ??
      {};
    const type = typeOf(sender);
    const send = (text: string) =>
      call<AcceptedJson>(caller, "POST", path, {
        key: null,
        body: text,
        headers: { ...headers, ...signed, "content-type": type },
      });
    if (scheme !== undefined && body !== "" && scheme !== "gitlab" && scheme !== "mailgun") {
      const altered = await send(body.replace(/[a-z]{4}/g, "zzzz"));
      expect(altered.status, altered.text).toBe(401);
    }
    const answer = await send(body);
    expect(answer.status, answer.text).toBe(sender.webhook.respond ?? 202);
    const execution = await ended(caller, answer.headers.get("location")?.split("/").at(-1) ?? "");
    const target = definition.agents[0];
    const webhook = target?.webhooks.find(({ slug }) => slug === name);
    if (target === undefined || webhook === undefined) throw new Error("The webhook was added.");
    const { input, unmapped } = compileMapping(webhook.fieldMapping).apply(
      sample,
      requestSources({ headers }, target, webhook),
    );
    expect({ unmapped, ended: execution.unmapped }).toEqual({ unmapped: [], ended: [] });
    // Values of secrets are redacted in outputs.
    expect(execution.output).toEqual(JSON.parse(JSON.stringify(input).replaceAll(key, "***")));
    expect(Object.values(input).some((value) => value !== "" && value !== null)).toBe(true);
  });
});

function bodyOf({ name }: Sender, sample: JsonObject): string {
  if (name === "google") return "";
  if (name === "twilio") return new URLSearchParams(sample as Record<string, string>).toString();
  const isList = Object.keys(sample).join() === "payload" && Array.isArray(sample.payload);
  return JSON.stringify(isList ? sample.payload : sample);
}

function typeOf({ name }: Sender): string {
  if (name === "twilio") return "application/x-www-form-urlencoded";
  if (name === "google") return "application/json; utf-8";
  return name === "sns" ? "application/json" : "application/json; charset=utf-8";
}
