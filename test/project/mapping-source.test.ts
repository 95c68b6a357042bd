import { describe, expect, test } from "vitest";
import type { FieldMapping } from "../../project/definition.ts";
import { compileMapping } from "../../project/mapping.ts";
import { parseSource } from "../../project/mapping-source.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

const sources = {
  headers: { "x-github-event": "issues" },
  query: { team: "a", tag: ["x", "y"] },
  path: "/agent/triage/issue",
};

function apply(mapping: Record<string, string>, payload = {}) {
  return compileMapping(Object.entries(mapping).map(([path, parameter]) => ({ path, parameter }))).apply(
    payload,
    sources,
  );
}

describe("sources of a mapping", () => {
  test("are headers, query parameters, the path and constants", () => {
    const mapping = {
      "$header.X-GitHub-Event": "event",
      "$query.team": "team",
      "$query.tag": "tags",
      $path: "path",
      "=github": "source",
      "=5": "number",
      '="5"': "text",
      "=null": "none",
      "=": "empty",
      '={"a":[1]}': "object",
      "user.name": "user",
    };
    expect(apply(mapping, { user: { name: "octo" } })).toEqual({
      input: {
        event: "issues",
        team: "a",
        tags: ["x", "y"],
        path: "/agent/triage/issue",
        source: "github",
        number: 5,
        text: "5",
        none: null,
        empty: "",
        object: { a: [1] },
        user: "octo",
      },
      unmapped: [],
    });
  });

  test("that are missing are unmapped", () => {
    const mapping = { "$header.x-other": "a", "$query.other": "b", "$query.constructor": "c" };
    expect(apply(mapping)).toEqual({ input: {}, unmapped: Object.keys(mapping) });
  });

  test("are never read from the payload", () => {
    const payload = { "$header.x-other": 1, $header: { "x-other": 1 }, $path: 1, "=a": 1 };
    const mapping = { "$header.x-other": "a", $path: "b", "=a": "c" };
    expect(apply(mapping, payload).input).toEqual({ b: "/agent/triage/issue", c: "a" });
  });

  test("leave other names with a dollar sign to the payload", () => {
    expect(apply({ "$oid.x": "a", $header: "b" }, { $oid: { x: 1 }, $header: 2 }).input).toEqual({
      a: 1,
      b: 2,
    });
  });

  test("must be complete", () => {
    for (const path of ["$header.", "$header.a b", "$query."]) {
      expect(() => compileMapping([{ path, parameter: "a" }])).toThrow(/Cannot read/);
    }
  });
});

describe("defaults", () => {
  const mapping: FieldMapping = [
    { path: "priority", parameter: "priority", default: 3 },
    { path: "$header.x-kind", parameter: "kind", default: null },
    { path: "$header.x-github-event", parameter: "event", default: "push" },
  ];

  test("replace missing values only", () => {
    const { apply } = compileMapping(mapping);
    expect(apply({}, sources)).toEqual({ input: { priority: 3, kind: null, event: "issues" }, unmapped: [] });
    expect(apply({ priority: null }).input).toEqual({ priority: null, kind: null, event: "push" });
  });

  test("appear in the trace", () => {
    const trace = compileMapping(mapping).trace({}, sources);
    expect(trace.map(({ found, reading, type }) => [found, reading, type])).toEqual([
      [true, "default", "number"],
      [true, "default", "null"],
      [true, "source", "string"],
    ]);
    const [missing] = compileMapping([{ path: "$header.X-Kind", parameter: "kind" }]).trace({}, sources);
    expect(missing).toMatchObject({ found: false, because: "the request has no header x-kind" });
  });
});

test("any key is a source, a path or an error", () => {
  const key = fc.oneof(
    fc.string(),
    fc.tuple(fc.constantFrom("$header.", "$query.", "$path", "="), fc.string()).map((both) => both.join("")),
  );
  fc.assert(
    fc.property(key, fc.dictionary(fc.string(), fc.string()), (text, values) => {
      try {
        const source = parseSource(text);
        const value = source?.read({ headers: values, query: values, path: "/" });
        if (source?.kind === "header" || source?.kind === "query") {
          expect(value).toBe(Object.hasOwn(values, source.name) ? values[source.name] : undefined);
        }
      } catch (error) {
        expect((error as Error).message).toMatch(/^Cannot read/);
      }
    }),
    { numRuns: rounds(300) },
  );
});
