/** The plan of a push shows every changed setting of a webhook. */
import { expect, test } from "vitest";
import { parseProjectFile } from "../../project/file/parse.ts";
import { planChanges } from "../../project/plan/plan.ts";
import { snapshotOfProject } from "../../project/plan/snapshot.ts";

function snapshot(webhook: object) {
  const agents = [{ name: "a", webhooks: [{ slug: "in", ...webhook }] }];
  const file = { name: "p", version: "1", agents };
  const { definition, problems } = parseProjectFile(Buffer.from(JSON.stringify(file)));
  if (definition === undefined || definition === null) throw new Error(JSON.stringify(problems));
  return snapshotOfProject(definition, []);
}

const signature = { scheme: "hmac", secret: "A", header: "x-s" };

test.each<[object, string[]]>([
  [{ handshake: "dropbox" }, ["handshake: none → dropbox"]],
  [{ raw: true }, ["raw: none → true"]],
  [{ files: "refuse" }, ["files: none → refuse"]],
  [{ respond: 200 }, ["respond: none → 200"]],
  [{ respond: { kind: "output", timeout: 3, late: 200 } }, ["respond: none → output within 3 s, late 200"]],
  [{ allow_from: ["192.0.2.1", "::1"] }, ["allow_from: none → 192.0.2.1, ::1"]],
  [{ rate_limit: { requests_per_second: 2 } }, ["rate_limit: none → 2/s, burst 4"]],
  [
    { field_mapping: { a: { parameter: "b", default: [1] } } },
    ["field_mapping a: none → b", "default of a: none → [1]"],
  ],
  [{ event: "type", events: ["a", "b.*"] }, ["events: none → a, b.*", "event: none → type"]],
  [
    { when: { a: ["x", 1], b: { exists: true, not: null } } },
    ['when a: none → "x" or 1', "when b: none → exists, not null"],
  ],
  [{ methods: ["GET", "POST"] }, ["methods: none → GET, POST"]],
  [
    { idempotency: { header: "x-id", after_failure: "replay" } },
    ["idempotency: none → header x-id, after_failure replay"],
  ],
  [
    { signature: { ...signature, encoding: "base64" }, keep_rejected: true },
    [
      "signature: none → hmac",
      "signature secret: none → A",
      "signature header: none → x-s",
      "signature encoding: none → base64",
      "keep_rejected: none → true",
    ],
  ],
])("of %j", (webhook, details) => {
  expect(planChanges(snapshot({}), snapshot(webhook)).webhooks).toEqual([
    { change: "changed", key: "a/in", details },
  ]);
  expect(planChanges(snapshot(webhook), snapshot(webhook)).webhooks).toEqual([]);
});

test("a changed secret is a change", () => {
  const before = snapshot({ signature });
  const after = snapshot({ signature: { ...signature, secret: ["B", "A"] } });
  expect(planChanges(before, after).webhooks[0]?.details).toEqual(["signature secret: A → B, A"]);
});
