/**
 * Compiles and matches the `google.api.http` rules of the contract, which define all REST paths.
 *
 * Of the grammar in google/api/http.proto it supports literal segments and `{field}`. Any other rule stops the start
 * of the server.
 */
import { type DescMethod, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../proto/google/api/annotations_pb.ts";
import type { HttpRule } from "../../proto/google/api/http_pb.ts";

export interface Rule {
  verb: string;
  method: DescMethod;
  segments: readonly Segment[];
  /** Name of the field that is the body, `*` for the whole request, empty for no body. */
  body: string;
}

type Segment = { literal: string } | { field: string };

export interface Match {
  rule: Rule;
  /** Decoded path variables by field name. */
  variables: Record<string, string>;
}

/** @throws Error when a rule is not in the supported grammar. */
export function rulesOf(service: DescService): Rule[] {
  return service.methods.flatMap((method) => {
    if (!hasOption(method, http)) return [];
    const rule = getOption(method, http);
    return [rule, ...rule.additionalBindings].map((binding) => compile(method, binding));
  });
}

function compile(method: DescMethod, rule: HttpRule): Rule {
  const { case: verb, value } = rule.pattern;
  if (verb === undefined || verb === "custom" || !value.startsWith("/") || rule.responseBody !== "") {
    throw new Error(
      `Cannot serve the HTTP rule of ${method.name}: only plain verbs and paths are supported.`,
    );
  }
  const segments = value
    .slice(1)
    .split("/")
    .map((text): Segment => {
      if (/^[a-z0-9._-]+$/i.test(text)) return { literal: text };
      const field = /^\{([a-z0-9_]+)\}$/.exec(text)?.[1];
      if (field === undefined || !method.input.fields.some((candidate) => candidate.name === field)) {
        throw new Error(
          `Cannot serve the HTTP rule of ${method.name}: '${text}' is neither a literal nor a field of the request.`,
        );
      }
      return { field };
    });
  return { verb: verb.toUpperCase(), method, segments, body: rule.body };
}

/** Finds the rule of a path. A literal segment takes precedence over a variable. */
export class RuleTable {
  /** By number of segments and first segment, which is a literal in every rule. */
  readonly #rules = new Map<string, Rule[]>();

  constructor(rules: readonly Rule[]) {
    for (const rule of rules) {
      const [head] = rule.segments;
      if (head === undefined || "field" in head)
        throw new Error("Cannot serve an HTTP rule: its first segment must be a literal.");
      const key = `${rule.segments.length}/${head.literal}`;
      const same = this.#rules.get(key) ?? [];
      same.push(rule);
      same.sort((a, b) => variableCount(a) - variableCount(b));
      this.#rules.set(key, same);
    }
  }

  /** Returns the match; the allowed verbs when only the verb differs; null when no rule has the path. */
  match(verb: string, path: string): Match | { allow: string[] } | null {
    const parts = path.split("/");
    const rules = this.#rules.get(`${parts.length - 1}/${parts[1] ?? ""}`);
    if (rules === undefined) return null;
    const allow = new Set<string>();
    for (const rule of rules) {
      const variables = bind(rule, parts);
      if (variables === null) continue;
      if (rule.verb === verb) return { rule, variables };
      allow.add(rule.verb);
    }
    return allow.size > 0 ? { allow: [...allow].sort() } : null;
  }
}

function variableCount(rule: Rule): number {
  return rule.segments.filter((segment) => "field" in segment).length;
}

function bind(rule: Rule, parts: readonly string[]): Record<string, string> | null {
  const variables: Record<string, string> = {};
  for (let i = 0; i < rule.segments.length; i++) {
    const segment = rule.segments[i];
    const part = parts[i + 1];
    if (segment === undefined || part === undefined) return null;
    if ("literal" in segment) {
      if (segment.literal !== part) return null;
    } else {
      const text = decode(part);
      if (text === null || text === "") return null;
      variables[segment.field] = text;
    }
  }
  return variables;
}

function decode(part: string): string | null {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
