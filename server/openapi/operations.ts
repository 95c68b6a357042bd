/** The operations of the methods. */
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { comments } from "../../proto/svc/v1/comments_pb.ts";
import { scope } from "../../proto/svc/v1/options_pb.ts";
import { behaviors } from "./behaviors.ts";
import { errorsOf } from "./errors.ts";
import { requestExample, responseExample } from "./examples/index.ts";
import { parametersOf } from "./parameters.ts";
import { type Binding, bindingsOf } from "./rules.ts";
import type { Schemas } from "./schema.ts";
import type { Schema } from "./types.ts";

/** The path items of the methods. */
export function pathsOf(methods: readonly DescMethod[], schemas: Schemas): Record<string, Schema> {
  const paths: Record<string, Schema> = {};
  for (const method of methods) {
    for (const [index, binding] of bindingsOf(method).entries()) {
      paths[binding.path] = {
        ...paths[binding.path],
        [binding.verb]: operation(binding, index, schemas),
      };
    }
  }
  return paths;
}

function operation(binding: Binding, index: number, schemas: Schemas): Schema {
  const { method } = binding;
  const required = getOption(method, scope);
  const behavior = behaviors[method.name] ?? {};
  const comment = behavior.description ?? comments[`${method.parent.typeName}.${method.name}`] ?? "";
  const parameters = [...parametersOf(binding, schemas), ...(behavior.headers ?? [])];
  const isPublic = required === "none";
  return {
    operationId: behavior.operationIds?.[index] ?? `${method.localName}${index === 0 ? "" : index + 1}`,
    tags: [method.parent.name.replace(/Service$/, "")],
    summary: comment.split(/(?<=[.:])\s/)[0]?.replace(/[.:]$/, "") ?? method.name,
    description: isPublic ? comment : `${comment}\n\nThe API key needs the scope \`${required}\`.`,
    security: isPublic ? [] : [{ apiKey: [required] }],
    ...(parameters.length > 0 && { parameters }),
    ...(binding.body !== "" && { requestBody: behavior.requestBody ?? requestBody(binding, schemas) }),
    responses: {
      ...(behavior.responses?.(schemas, method) ?? success(method, schemas)),
      ...errorsOf(...(behavior.errors ?? usualErrors(binding))),
    },
  };
}

function requestBody({ method, variables, body }: Binding, schemas: Schemas): Schema {
  const field = method.input.fields.find(({ name }) => name === body);
  const schema =
    field === undefined ? schemas.body(method.input, variables) : schemas.field(field, "request");
  const component = schemas.components[String(schema.$ref).split("/").at(-1) ?? ""];
  const example = requestExample(method);
  return {
    required: component?.required !== undefined,
    content: { "application/json": { schema, ...(example !== undefined && { example }) } },
  };
}

function success(method: DescMethod, schemas: Schemas): Record<string, Schema> {
  const schema = schemas.ref(method.output, "response");
  const example = responseExample(method);
  if (method.methodKind !== "server_streaming") {
    return { 200: { description: "Success.", content: { "application/json": { schema, example } } } };
  }
  const lines = { anyOf: [schema, { $ref: "#/components/schemas/StreamError" }] };
  return {
    200: {
      description:
        "A stream of newline-delimited JSON. The schema is that of one line. A stream that fails ends with an error line.",
      content: { "application/x-ndjson": { schema: lines, example } },
    },
  };
}

function usualErrors({ verb, variables, body, method }: Binding): number[] {
  const names = variables.length > 0 || method.input.fields.some(({ name }) => name === "name");
  return [
    400,
    401,
    403,
    ...(names ? [404] : []),
    ...(body !== "" ? [413, 415] : []),
    ...(verb === "get" ? [] : [503]),
  ];
}
