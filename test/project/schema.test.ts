/** The JSON Schema of the project file agrees with the parser. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { senders } from "../../cli/senders/index.ts";
import { parseProjectFile } from "../../project/file/parse.ts";
import type { JsonValue } from "../../project/json.ts";
import { projectSchema, SCHEMA_FILE } from "../../project/schema/index.ts";
import { root } from "../support/runtimes.ts";

const matchesSchema = new Ajv({ strictTypes: false, strictRequired: false }).compile(projectSchema as object);
const problemsOf = (value: unknown): string[] =>
  parseProjectFile(Buffer.from(JSON.stringify(value))).problems.map(({ message }) => message);

test("project.schema.json is the schema; `npx vitest run test/project/schema.test.ts --update` writes it", async () => {
  const text = `${JSON.stringify(projectSchema, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(root, SCHEMA_FILE));
});

test("has the keys that the parser knows", () => {
  const folder = join(root, "project/file");
  const known = new Set<string>();
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".ts")) continue;
    const code = readFileSync(join(folder, entry), "utf8");
    for (const [, keys = ""] of code.matchAll(/(?:\.fields\(|const keys = )\[([^\]]+)\]/g)) {
      for (const [, key = ""] of keys.matchAll(/"(\w+)"/g)) known.add(key);
    }
  }
  const described = new Set<string>();
  const visit = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === "properties") for (const name of Object.keys(value as object)) described.add(name);
      if (key !== "default" && key !== "examples") visit(value);
    }
  };
  visit(projectSchema);
  expect(known.size).toBeGreaterThan(40);
  expect([...described].toSorted()).toEqual([...known].toSorted());
});

test("describes every key", () => {
  const bare: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties = {}, ...rest } = schema as { properties?: Record<string, { description?: string }> };
    for (const [name, value] of Object.entries(properties)) {
      const isOnlyRefused = (value as unknown) === false;
      if (!isOnlyRefused && !/\/(if|then|else)$/.test(path) && !value.description)
        bare.push(`${path}.${name}`);
      visit(value, `${path}.${name}`);
    }
    for (const [key, value] of Object.entries(rest)) visit(value, `${path}/${key}`);
  };
  visit(projectSchema, "");
  expect(bare).toEqual([]);
});

const base = { name: "demo", version: "1.0.0" };
const withWebhook = (webhook: object) => ({
  ...base,
  agents: [{ name: "a", webhooks: [{ slug: "s", ...webhook }] }],
});

/** Files that have every key, small ones because each is parsed with many changes. */
const files: readonly object[] = [
  { ...base, "x-note": 1, network: ["api.github.com", "*.stripe.com", "db.example.com:5432"] },
  {
    ...base,
    agents: [
      {
        ...{
          name: "a",
          display_name: "A",
          description: "Sorts mail.\nFast.",
          expose_as_tool: true,
          timeout: 10,
          enable_retry: true,
        },
        retry_policy: { max_retries: 5, strategy: "fixed", initial_delay: 0.5, max_delay: 60 },
      },
    ],
  },
  {
    ...base,
    workflows: [{ name: "nightly" }],
    schedules: {
      agents: {},
      workflows: {
        nightly: {
          ...{ cron: "*/5 * * * *", timezone: "Europe/Berlin", enabled: false, input: { a: [1, null] } },
          ...{ overlap: "queue", catch_up: 60 },
        },
      },
    },
  },
  { name: "p", version: "1", on_failure: { url: "https://example.com/a?b", secret: "S" } },
  {
    ...{ name: "p", version: "1", on_failure: "a" },
    agents: [{ name: "a" }, { name: "b", on_failure: false }],
  },
  {
    ...base,
    workflows: [{ name: "nightly" }],
    vars: { URL: "https://example.com", SIZE: 5, DRY: true },
    environments: { staging: { vars: { URL: "x" } }, empty: null },
    schedules: {
      workflows: {
        nightly: [
          { name: "a", cron: "* * * * *" },
          { name: "b", cron: "0 0 * * *", enabled: false },
        ],
      },
    },
  },
  withWebhook({
    field_mapping: { "a.b": "a", "c[0]": { parameter: "c", default: [1] } },
    raw: true,
    files: "refuse",
  }),
  withWebhook({
    signature: {
      ...{ scheme: "hmac", secret: ["A", "B"], header: "X-S", algorithm: "sha1", encoding: "base64" },
      ...{ prefix: "v1=", timestamp_header: "X-T", content: "{timestamp}.{body}", tolerance: 60 },
    },
    keep_rejected: true,
  }),
  withWebhook({
    signature: { scheme: "sns", topic: "arn:aws:sns:us-east-1:123456789012:orders" },
    handshake: "slack",
    respond: 200,
  }),
  withWebhook({
    idempotency: { header: "x-id", after_failure: "replay" },
    rate_limit: { requests_per_second: 2, burst: 7 },
    handshake: { kind: "meta", secret: "TOKEN" },
  }),
  withWebhook({
    respond: { kind: "output", timeout: 3, late: 200 },
    allow_from: ["10.0.0.0/8", "::1"],
    methods: ["POST"],
  }),
  withWebhook({
    events: ["issues.opened", "push.*"],
    event: ["$header.x-event", "action"],
    when: { action: ["a", 1, null], b: { exists: true, not: ["Bot"] }, c: "d" },
  }),
];

test("accepts each sender's webhook, and files with every key", () => {
  const every = [...files, ...senders.map(({ webhook }) => withWebhook(webhook))];
  for (const file of every) {
    expect(problemsOf(file)).toEqual([]);
    expect(matchesSchema(file), JSON.stringify(matchesSchema.errors)).toBe(true);
  }
});

/** Rules that the schema does not state: between keys, and of the values of some texts. */
const unstated =
  /two (agents|webhooks)|may not share|no (agent|workflow) "|no agent or workflow is named|must be a URL without|may not be over max_delay|no effect|hands?hake of meta|is not in vars of the project|needs? (timestamp_header|the place)|placeholder \{timestamp\}|time zone|mapped to the parameter|may include GET|cron|\.cron:|must have the placeholder/;

const probes: readonly JsonValue[] = [
  ...[null, true, false, -1, 0, 0.05, 0.5, 1, 61, 200, 1001, 86_401, 604_801, 1e9],
  ...["", " ", "text", "two\nlines", "a b", "ümlaut", "{body}", "{body}{body}", "{other}", "a.*", "a*"],
  ...["x".repeat(65), "x".repeat(257), "fixed", "output", "meta", "none", "sns", "github", "token", "allow"],
  ...[[], {}, ["a"], ["a", "b", "c", "d"], [1], { unknown: 1 }, { "x-own": 1 }, ["GET"], ["POST", "POST"]],
];

test("accepts and rejects the same values as the parser in every place", () => {
  const disagreements: string[] = [];
  let compared = 0;
  const cases = files.flatMap((file) =>
    placesIn(file).flatMap((place) => [...probes, undefined].map((probe) => ({ file, place, probe }))),
  );
  const seen = new Set<string>();
  for (const { file: original, place, probe } of cases) {
    const file = replaced(original, place, probe);
    const text = JSON.stringify(file);
    if (seen.has(text)) continue;
    seen.add(text);
    compared++;
    const problems = problemsOf(file);
    const matches = matchesSchema(file);
    if (matches === (problems.length === 0)) continue;
    if (matches && problems.every((problem) => unstated.test(problem))) continue;
    const why = matches ? problems.join("; ") : JSON.stringify(matchesSchema.errors?.at(-1));
    disagreements.push(`${place.join(".")} = ${JSON.stringify(probe)}: ${why}`);
  }
  expect(compared).toBeGreaterThan(3000);
  expect(disagreements).toEqual([]);
});

type Place = readonly (string | number)[];

function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return place.length > 0 ? [place] : [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const below = entries.flatMap(([key, member]) => placesIn(member, [...place, key]));
  return place.length > 0 ? [place, ...below] : below;
}

/** A copy with another value at a place; undefined leaves it out. */
function replaced(value: unknown, [key, ...rest]: Place, probe: JsonValue | undefined): unknown {
  if (key === undefined) return probe;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >;
  const next = replaced(copy[key], rest, probe);
  if (next !== undefined) copy[key] = next;
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key];
  return copy;
}
