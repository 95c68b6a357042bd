import assert from "node:assert/strict";
import { test } from "node:test";
import { labelsOf } from "../agents/triage.ts";

test("a crash is a bug", () => {
  assert.deepEqual(labelsOf({ title: "Crash on start", body: null }), ["bug"]);
});

test("the text counts too", () => {
  assert.deepEqual(labelsOf({ title: "Small thing", body: "A typo in the README." }), ["documentation"]);
});
