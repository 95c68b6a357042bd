import assert from "node:assert/strict";
import { test } from "node:test";
import { classify } from "../agents/triage.ts";

test("a crash is a bug of high priority", () => {
  assert.deepEqual(classify({ title: "Crash when the config file is empty" }), {
    kind: "bug",
    priority: "high",
    missing: ["version"],
  });
});

test("the label decides the kind", () => {
  assert.equal(classify({ title: "Crash in the example", label: "docs" }).kind, "docs");
});
