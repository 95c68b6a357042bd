/** Compiles and matches the `google.api.http` rules of the contract, which define all REST paths. */
import { type DescMethod, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../proto/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../proto/google/api/http_pb.ts";
import { bind, isOpen, normalizePath, parseTemplate, type Segment, type Template } from "./template.ts";

export interface Rule extends Template {
  /** HTTP method, `*` for any. */
  verb: string;
  method: DescMethod;
  /** Name of the field that is the body, `*` for the whole request, empty for no body. */
  body: string;
  /** Name of the field that is the response, empty for the whole response. */
  responseBody: string;
}

export interface Match {
  rule: Rule;
  /** Decoded path variables by field; the names of nested fields are separated by dots. */
  variables: Record<string, string>;
}

/** @throws Error when a rule is not in the grammar. */
export function rulesOf(service: DescService): Rule[] {
  return service.methods.flatMap((method) => {
    if (!hasOption(method, http)) return [];
    const rule = getOption(method, http);
    return [rule, ...rule.additionalBindings].map((binding) => compile(method, binding));
  });
}

function compile(method: DescMethod, { pattern, body, responseBody }: HttpRule): Rule {
  if (pattern.case === undefined)
    throw new Error(`Cannot serve the HTTP rule of ${method.name}: it has no path.`);
  const [verb, path] =
    pattern.case === "custom"
      ? [pattern.value.kind, pattern.value.path]
      : [pattern.case.toUpperCase(), pattern.value];
  checkBody(method, body);
  if (responseBody !== "" && !method.output.fields.some(({ name }) => name === responseBody)) {
    throw new Error(
      `Cannot serve the HTTP rule of ${method.name}: the response has no field '${responseBody}'.`,
    );
  }
  return { verb, method, ...parseTemplate(path, method.input), body, responseBody };
}

function checkBody({ name, input }: DescMethod, body: string): void {
  if (body === "" || body === "*") return;
  const field = input.fields.find((candidate) => candidate.name === body);
  if (field?.fieldKind === "message" || field?.fieldKind === "map") return;
  throw new Error(
    `Cannot serve the HTTP rule of ${name}: the body '${body}' must be a message of the request.`,
  );
}

/** Finds the rule of a path. A literal segment takes precedence over a variable, and a custom verb over none. */
export class RuleTable {
  /** By number of segments and first segment, which is empty unless it is a literal. */
  readonly #rules = new Map<string, Rule[]>();
  /** Rules whose last segment is `**`. */
  readonly #open: Rule[] = [];

  constructor(rules: readonly Rule[]) {
    for (const rule of rules.toSorted(byPrecedence)) {
      const [head] = rule.segments;
      const first = head !== undefined && "literal" in head && rule.segments.length > 1 ? head.literal : "";
      if (isOpen(rule)) this.#open.push(rule);
      else {
        const key = `${rule.segments.length}/${first}`;
        this.#rules.set(key, [...(this.#rules.get(key) ?? []), rule]);
      }
    }
  }

  /** Returns the match; the allowed verbs when only the verb differs; null when no rule has the path. */
  match(verb: string, path: string): Match | { allow: string[] } | null {
    const parts = normalizePath(path).split("/").slice(1);
    const allow = new Set<string>();
    for (const rules of [
      this.#rules.get(`${parts.length}/${parts[0] ?? ""}`),
      this.#rules.get(`${parts.length}/`),
      this.#open,
    ]) {
      for (const rule of rules ?? []) {
        const variables = bind(rule, parts);
        if (variables === null) continue;
        if (rule.verb === verb || rule.verb === "*") return { rule, variables };
        allow.add(rule.verb);
      }
    }
    return allow.size > 0 ? { allow: [...allow].sort() } : null;
  }
}

function byPrecedence(a: Rule, b: Rule): number {
  for (let i = 0; i < Math.max(a.segments.length, b.segments.length); i++) {
    const difference = rank(a.segments[i]) - rank(b.segments[i]);
    if (difference !== 0) return difference;
  }
  return Number(a.customVerb === "") - Number(b.customVerb === "");
}

function rank(segment: Segment | undefined): number {
  if (segment === undefined) return 0;
  if ("literal" in segment) return 1;
  return "wildcard" in segment && segment.wildcard === "**" ? 3 : 2;
}
