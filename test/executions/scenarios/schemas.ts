/** Schemas of any behaviour, before an execution and in it. */
import type { Outcome, Violation } from "../../../server/executions/pool/index.ts";
import type { Lab } from "../lab.ts";
import { poolScenario, type Scenario } from "../scenario.ts";

const check = (lab: Lab, way: string): Promise<Violation[] | null> =>
  lab.pools.validate(lab.deploymentId, "agents/schema.ts", { way });

const ways = ["valid", "paths", "many", "none", "throws", "malformed", "nothing", "exits", "later"];

export const schemaScenarios: Scenario[] = [
  poolScenario(
    "a schema checks an input before an attempt as in it",
    async (lab) => {
      const found: Record<string, { before: Violation[] | null; outcome: Outcome }> = {};
      for (const way of ways) {
        found[way] = { before: await check(lab, way), outcome: await lab.run("schema", { way }) };
      }
      return found;
    },
    (found, expect) => {
      const violations = {
        paths: [
          { field: 'input.items[0].a-b["c.d"][""]["Symbol(s)"]', description: "rule" },
          { field: "input", description: "whole" },
        ],
        many: Array.from({ length: 50 }, () => ({ field: "input.a", description: `${"x".repeat(1000)}…` })),
        none: [{ field: "input", description: "is invalid" }],
        later: [{ field: "input", description: "late" }],
      };
      for (const [way, expected] of Object.entries(violations)) {
        expect(found[way]?.before, way).toEqual(expected);
        expect(found[way]?.outcome, way).toMatchObject({
          type: "failed",
          final: true,
          reason: "input",
          error: { name: "InputError", violations: expected },
        });
      }
      expect(found.valid).toEqual({
        before: null,
        outcome: { type: "succeeded", output: '{"got":"returned"}' },
      });
      // The attempt reports what the check before it could not.
      for (const way of ["throws", "malformed", "nothing"]) {
        expect(found[way]?.before, way).toBe(null);
        expect(found[way]?.outcome, way).toMatchObject({ type: "failed", final: false, reason: "thrown" });
      }
      expect(found.exits?.before).toBe(null);
      expect(found.exits?.outcome).toMatchObject({ type: "failed", reason: "exit" });
    },
  ),

  poolScenario(
    "many checks at once wait for the first runner",
    (lab) => Promise.all(Array.from({ length: 20 }, () => check(lab, "none"))),
    (found, expect) => {
      expect(found).toEqual(found.map(() => [{ field: "input", description: "is invalid" }]));
    },
  ),

  poolScenario(
    "a schema that blocks its runner answers nothing, and the next runner serves the rest",
    async (lab) => [
      await check(lab, "blocks"),
      await check(lab, "none"),
      await lab.run("schema", { way: "valid" }),
    ],
    ([blocked, next, outcome], expect) => {
      expect(blocked).toBe(null);
      expect(next).toEqual([{ field: "input", description: "is invalid" }]);
      expect(outcome).toMatchObject({ type: "succeeded" });
    },
    { blockedMs: 300 },
  ),
];
