/** The filters of webhooks: validation of `events`, `event` and `when`, and their decisions. */
import { expect, test } from "vitest";
import { signatureSchemes, type WebhookDefinition } from "../../project/definition.ts";
import { parseProjectFile } from "../../project/file/parse.ts";
import type { JsonObject } from "../../project/json.ts";
import { eventNameOf } from "../../project/webhook/event-names.ts";
import { compileFilter } from "../../project/webhook/filter.ts";

function parse(webhook: object) {
  const agents = [{ name: "a", webhooks: [{ slug: "in", ...webhook }] }];
  const { definition, problems } = parseProjectFile(
    Buffer.from(JSON.stringify({ name: "p", version: "1", agents })),
  );
  return { webhook: definition?.agents[0]?.webhooks[0], problems: problems.map(({ message }) => message) };
}

function filterOf(webhook: object) {
  const { webhook: definition, problems } = parse(webhook);
  expect(problems).toEqual([]);
  const filter = compileFilter(definition as WebhookDefinition);
  if (filter === null) throw new Error("The webhook has no filter.");
  return (payload: JsonObject, headers: Record<string, string> = {}, query: JsonObject = {}) => {
    const sources = { headers, query, path: "/agent/a/in" };
    return { event: filter.eventOf(payload, sources), ignored: filter.ignores(payload, sources) };
  };
}

const signature = (scheme: string) => ({ signature: { scheme, secret: "S" }, handshake: "none" });

test("a webhook without events and conditions has no filter", () => {
  expect(compileFilter(parse({}).webhook as WebhookDefinition)).toBeNull();
});

test.each<[string, string, JsonObject, Record<string, string>]>([
  ["github", "issues.opened", { action: "opened" }, { "x-github-event": "issues" }],
  ["github", "push", {}, { "x-github-event": "push" }],
  [
    "gitlab",
    "merge_request.open",
    { object_kind: "merge_request", object_attributes: { action: "open" } },
    {},
  ],
  ["gitlab", "project_create", { event_name: "project_create" }, {}],
  ["bitbucket", "repo:push", {}, { "x-event-key": "repo:push" }],
  ["stripe", "customer.subscription.created", { type: "customer.subscription.created" }, {}],
  ["shopify", "orders/create", {}, { "x-shopify-topic": "orders/create" }],
  ["shopify", "orders/create", {}, { "shopify-topic": "orders/create" }],
  ["slack", "app_mention", { type: "event_callback", event: { type: "app_mention" } }, {}],
  ["slack", "/deploy", { command: "/deploy", text: "now" }, {}],
  ["slack", "block_actions", { type: "block_actions" }, {}],
  ["linear", "Issue.create", { type: "Issue", action: "create" }, {}],
  ["jira", "jira:issue_created", { webhookEvent: "jira:issue_created" }, {}],
  ["mailgun", "delivered", { "event-data": { event: "delivered" } }, {}],
  ["discord", "2", { type: 2 }, {}],
  ["zoom", "meeting.started", { event: "meeting.started" }, {}],
])("names the event of %s: %s", (scheme, name, payload, headers) => {
  const decide = filterOf({ ...signature(scheme), events: [name] });
  expect(decide(payload, headers)).toEqual({ event: name, ignored: null });
  expect(decide({}, {})).toEqual({ event: null, ignored: "The request does not name its event." });
});

test.each<[string, string, boolean]>([
  ["issues.opened", "issues.opened", true],
  ["issues.opened", "issues.closed", false],
  ["issues", "issues.opened", false],
  ["*", "issues", true],
  ["*", "issues.opened", true],
  ["customer.*", "customer.subscription.created", true],
  ["customer.*", "customer", false],
  ["*.created", "customer.created", true],
  ["*.created", "customer.subscription.created", false],
  ["customer.*.created", "customer.subscription.created", true],
  ["orders/*", "orders/create", true],
  ["repo:*", "repo:push", true],
  ["/deploy", "/deploy", true],
  ["a.b", "a.b.", false],
  ["Push", "push", false],
  ["*", "x".repeat(257), false],
])("the pattern %s and the event %s match: %s", (pattern, name, matches) => {
  const decide = filterOf({ event: "type", events: [pattern] });
  expect(decide({ type: name }).ignored === null).toBe(matches);
});

test("a name of several parts also matches by its first part", () => {
  const decide = filterOf({ ...signature("github"), events: ["issues"] });
  expect(decide({ action: "opened" }, { "x-github-event": "issues" }).ignored).toBeNull();
  const decideBoth = filterOf({ event: ["$header.X-Kind", "$query.action"], events: ["order.paid"] });
  expect(decideBoth({}, { "x-kind": "order" }, { action: "paid" }).ignored).toBeNull();
  expect(decideBoth({}, { "x-kind": "order" }, { action: "sent" }).ignored).toBe(
    "The event order.sent is not in events.",
  );
});

test.each<[object, JsonObject, string | null]>([
  [{ action: "opened" }, { action: "opened" }, null],
  [{ action: "opened" }, { action: "closed" }, "action does not hold: the value is not one of those listed"],
  [{ action: "opened" }, {}, "action does not hold: the value does not exist"],
  [{ "issue.state": ["open", "new"] }, { issue: { state: "new" } }, null],
  [{ "a.b": "x" }, { "a.b": "x" }, null],
  [{ n: 5 }, { n: "5" }, null],
  [{ n: "5" }, { n: 5 }, null],
  [{ n: true }, { n: "true" }, null],
  [{ n: null }, { n: null }, null],
  [{ n: null }, { n: "null" }, "n does not hold: the value is not one of those listed"],
  [{ n: "[object Object]" }, { n: {} }, "n does not hold: the value is not one of those listed"],
  [{ n: "" }, { n: [] }, "n does not hold: the value is not one of those listed"],
  [{ n: { exists: true } }, { n: null }, null],
  [{ n: { exists: true } }, {}, "n does not hold: the value does not exist"],
  [{ n: { exists: false } }, { n: 0 }, "n does not hold: the value exists"],
  [{ n: { not: "Bot" } }, {}, null],
  [{ n: { not: ["Bot", "App"] } }, { n: "App" }, "n does not hold: the value is one that is excluded"],
  [{ n: { exists: true, not: "Bot" } }, {}, "n does not hold: the value does not exist"],
  [{ a: 1, b: 2 }, { a: 1, b: 3 }, "b does not hold: the value is not one of those listed"],
  [{ $path: "/agent/a/in" }, {}, null],
  [{ __proto__x: { exists: false } }, {}, null],
])("the condition %j on %j: %s", (when, payload, ignored) => {
  const reason = filterOf({ when })(payload).ignored;
  expect(reason).toBe(ignored === null ? null : `The condition on ${ignored}.`);
});

test("members of the prototype are not values", () => {
  expect(filterOf({ when: { constructor: { exists: false } } })({}).ignored).toBeNull();
  expect(filterOf({ when: { "$header.constructor": { exists: false } } })({}).ignored).toBeNull();
});

test("a scheme either names its events or asks for their place", () => {
  for (const scheme of signatureSchemes) {
    const header = ["hmac", "token"].includes(scheme) ? { header: "x-signature" } : {};
    const { problems } = parse({
      signature: { scheme, secret: "S", ...header },
      handshake: "none",
      events: ["a"],
    });
    const asks = problems.some((problem) => problem.includes("events needs the place"));
    expect([scheme, asks]).toEqual([scheme, eventNameOf(scheme) === null]);
  }
});

test.each<[object, RegExp]>([
  [{ events: ["a"] }, /events needs the place of the event's name: add `event: \$header\.<name>`/],
  [{ event: "type" }, /event has no effect without events/],
  [{ event: "type", events: [] }, /events must have at least one entry/],
  [{ event: "type", events: ["a*"] }, /events\[0\]: "\*" must stand for a whole segment/],
  [{ event: "type", events: Array(101).fill("a") }, /at most 100 entries, not 101/],
  [{ event: "type", events: "push" }, /events must be a list, not the text "push"/],
  [{ event: "=x", events: ["a"] }, /event must name a value of the request, not a constant/],
  [{ event: "a[", events: ["a"] }, /"\[" is never closed/],
  [{ event: ["a", "b", "c", "d"], events: ["a"] }, /at most 3 parts, not 4/],
  [{ when: {} }, /when must have at least one condition/],
  [{ when: [] }, /when must be a map, not a list/],
  [{ when: { a: { is: 1 } } }, /unknown key "is" in .*when\.a/],
  [{ when: { a: {} } }, /when\.a must have exists, not, or both/],
  [{ when: { a: { exists: 1 } } }, /exists must be true or false/],
  [{ when: { a: { not: { b: 1 } } } }, /not must be text of at most 256 characters, a number/],
  [{ when: { a: [["b"]] } }, /must be text of at most 256 characters, a number/],
  [{ when: { "=a": 1 } }, /must name a value of the request, not a constant/],
])("reports %j", (webhook, message) => {
  expect(parse(webhook).problems.join("\n")).toMatch(message);
});
