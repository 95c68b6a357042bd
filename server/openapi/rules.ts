/** The REST bindings of the methods, from their `google.api.http` rules. */
import { type DescField, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../proto/google/api/annotations_pb.ts";

export interface Binding {
  method: DescMethod;
  /** In lower case, for example `get`. */
  verb: string;
  /** For example `/api/v1/executions/{execution_id}`. */
  path: string;
  /** Names of the fields in the path. */
  variables: readonly string[];
  /** Name of the field that is the body, `*` for all other fields, empty for none. */
  body: string;
}

/** The bindings of a method. The first is the preferred one. */
export function bindingsOf(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].flatMap(({ pattern, body }) => {
    if (pattern.case === undefined || pattern.case === "custom") return [];
    const variables = [...pattern.value.matchAll(/\{([\w.]+)[^}]*\}/g)].map(([, name = ""]) => name);
    // `{name=projects/*}` has the same variable as `{name}`; OpenAPI knows the short form only.
    const path = pattern.value.replaceAll(/\{([\w.]+)=[^}]*\}/g, "{$1}");
    return [{ method, verb: pattern.case, path, variables, body }];
  });
}

/** The field at a path such as `filter.name`. */
export function fieldAt(method: DescMethod, path: string): DescField | undefined {
  let message = method.input;
  let found: DescField | undefined;
  for (const name of path.split(".")) {
    found = message.fields.find((field) => field.name === name);
    if (found?.message !== undefined) message = found.message;
  }
  return found;
}
