import { defineAgent, type Schema } from "svc";

type Issues = readonly { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[];

/** What the schema does with an input. */
const ways: Record<string, () => unknown> = {
  valid: () => ({ value: { way: "returned" } }),
  paths: () => ({
    issues: [
      { message: "rule", path: ["items", 0, { key: "a-b" }, "c.d", "", Symbol("s")] },
      { message: "whole" },
    ] satisfies Issues,
  }),
  many: () => ({ issues: Array.from({ length: 1000 }, () => ({ message: "x".repeat(5000), path: ["a"] })) }),
  none: () => ({ issues: [] }),
  throws: () => {
    throw new RangeError("in the schema");
  },
  malformed: () => ({ issues: [null] }),
  nothing: () => undefined,
  exits: () => process.exit(3),
  later: async () => ({ issues: [{ message: "late" }] }),
  blocks: () => {
    for (;;);
  },
};

const schema: Schema<{ way: string }> = {
  "~standard": {
    version: 1,
    vendor: "own",
    validate: (value) => ways[(value as { way: string }).way]?.() as never,
  },
};

export default defineAgent({ input: schema, run: (input) => ({ got: input.way }) });
