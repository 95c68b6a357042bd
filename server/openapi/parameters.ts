/** Path and query parameters of a binding. */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { constraintsOf } from "./constraints.ts";
import { exampleOf } from "./examples/index.ts";
import { type Binding, fieldAt } from "./rules.ts";
import type { Schemas } from "./schema.ts";
import type { Schema } from "./types.ts";
import { wellKnown } from "./well-known.ts";

export function parametersOf(binding: Binding, schemas: Schemas): Schema[] {
  return [
    ...binding.variables.flatMap((name) => {
      const field = fieldAt(binding.method, name);
      return field === undefined ? [] : [parameter(name, "path", field, schemas)];
    }),
    ...queryParameters(binding, schemas),
  ];
}

/** With the body `*` every field that is not in the path is in the body. */
function queryParameters({ method, variables, body }: Binding, schemas: Schemas): Schema[] {
  if (body === "*") return [];
  const bound = new Set([...variables, body]);
  return leaves(method.input, "", []).flatMap(({ path, field }) =>
    bound.has(path) || bound.has(path.split(".")[0] ?? "") ? [] : [parameter(path, "query", field, schemas)],
  );
}

interface Leaf {
  /** Names of the fields, joined by dots. */
  path: string;
  field: DescField;
}

/** The fields that a query can set: scalars, lists of scalars and types with a JSON string, also in nested messages. */
function leaves(message: DescMessage, prefix: string, parents: readonly DescMessage[]): Leaf[] {
  if (parents.includes(message)) return [];
  return message.fields.flatMap((field): Leaf[] => {
    const path = `${prefix}${field.name}`;
    if (field.fieldKind === "map") return [];
    if (field.message === undefined) return [{ path, field }];
    const known = wellKnown[field.message.typeName];
    if (known !== undefined) return known.type === "string" ? [{ path, field }] : [];
    return field.fieldKind === "list" ? [] : leaves(field.message, `${path}.`, [...parents, message]);
  });
}

function parameter(name: string, place: "path" | "query", field: DescField, schemas: Schemas): Schema {
  const { description, ...schema } = schemas.field(field, "request");
  const example = exampleOf(field);
  return {
    name,
    in: place,
    ...(description !== undefined && { description }),
    ...(place === "path" ? { required: true } : constraintsOf(field).required && { required: true }),
    schema,
    ...(field.fieldKind === "list" && { style: "form", explode: true }),
    ...(example !== undefined && { example }),
  };
}
