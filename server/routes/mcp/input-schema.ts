/** JSON Schemas of the parameters of tools, from the request messages of methods. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { JsonObject } from "../../../project/json.ts";
import { comments } from "../../../proto/svc/v1/comments_pb.ts";
import { constraintsOf } from "../../openapi/constraints.ts";
import { Schemas } from "../../openapi/schema.ts";

/**
 * @param only - names of the fields; by default all
 * @param hidden - names of the fields to leave out
 */
export function inputSchemaOf(
  method: DescMethod,
  only?: readonly string[],
  hidden: readonly string[] = [],
): JsonObject {
  const schemas = new Schemas();
  const fields = method.input.fields.filter(
    ({ name }) => !hidden.includes(name) && (only === undefined || only.includes(name)),
  );
  const required = fields.filter((field) => constraintsOf(field).required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, schemas.field(field, "request")])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  } as JsonObject;
}

/** The comment of a method in the contract. */
export function commentOf(method: DescMethod): string {
  return comments[`${method.parent.typeName}.${method.name}`] ?? method.name;
}
