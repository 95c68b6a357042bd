import assert from "node:assert/strict";
import { test } from "node:test";
import { byPriority } from "../workflows/triage-backlog.ts";

test("issues of high priority come first", () => {
  const issues = ["low", "high", "normal"].map((priority) => ({ title: priority, kind: "bug", priority }));
  assert.deepEqual(
    byPriority(issues).map(({ title }) => title),
    ["high", "normal", "low"],
  );
});
