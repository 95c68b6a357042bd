/** JSON Schemas of the messages of the contract, as their JSON mapping with snake_case names writes and reads them. */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { comments } from "../../proto/svc/v1/comments_pb.ts";
import { constraintsOf } from "./constraints.ts";
import type { Direction, Schema } from "./types.ts";
import { wellKnown } from "./well-known.ts";

/** Collects the schemas of messages under `components/schemas`. */
export class Schemas {
  readonly components: Record<string, Schema> = {};
  readonly #directions = new Map<string, Direction>();

  /** A reference to the schema of a message. */
  ref(message: DescMessage, direction: Direction): Schema {
    const known = wellKnown[message.typeName];
    if (known !== undefined) return { ...known };
    const name = this.#nameOf(message, direction);
    if (this.components[name] === undefined) {
      this.components[name] = {}; // Ends the recursion of a message that contains itself.
      this.components[name] = this.#object(message, message.fields, direction);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** A reference to the schema of a request body: the message without the fields that are in the path. */
  body(message: DescMessage, inPath: readonly string[]): Schema {
    if (inPath.length === 0) return this.ref(message, "request");
    const fields = message.fields.filter(({ name }) => !inPath.includes(name));
    const name = this.#nameOf(message, "request");
    this.components[name] ??= this.#object(message, fields, "request");
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema of a field's value, with its description. */
  field(field: DescField, direction: Direction): Schema {
    const { keywords, outputOnly, inputOnly } = constraintsOf(field);
    const description = comments[`${field.parent.typeName}.${field.name}`];
    return {
      ...this.#container(field, direction),
      ...(direction === "request" ? keywords : "enum" in keywords && { enum: keywords.enum }),
      ...(description !== undefined && { description }),
      ...(direction === "response" && outputOnly && { readOnly: true }),
      ...(direction === "request" && inputOnly && { writeOnly: true }),
    };
  }

  /** A message in both directions has two schemas, because their required fields differ. */
  #nameOf(message: DescMessage, direction: Direction): string {
    const name = message.typeName.slice(message.file.proto.package.length + 1).replaceAll(".", "");
    const first = this.#directions.get(name) ?? direction;
    this.#directions.set(name, first);
    return first === direction ? name : `${name}${direction === "request" ? "Input" : "Output"}`;
  }

  #object(message: DescMessage, fields: readonly DescField[], direction: Direction): Schema {
    const used = fields.filter((field) => direction === "response" || !constraintsOf(field).outputOnly);
    const required = used.filter((field) =>
      direction === "request" ? constraintsOf(field).required : isAlwaysWritten(field),
    );
    const description = comments[message.typeName];
    return {
      type: "object",
      ...(description !== undefined && { description }),
      properties: Object.fromEntries(used.map((field) => [field.name, this.field(field, direction)])),
      ...(required.length > 0 && { required: required.map(({ name }) => name) }),
      ...oneofKeywords(message, used),
      ...(direction === "request" && { additionalProperties: false }),
    };
  }

  #container(field: DescField, direction: Direction): Schema {
    if (field.fieldKind === "list") return { type: "array", items: this.#value(field, direction) };
    if (field.fieldKind === "map") {
      return { type: "object", additionalProperties: this.#value(field, direction) };
    }
    return this.#value(field, direction);
  }

  #value(field: DescField, direction: Direction): Schema {
    if (field.message !== undefined) return this.ref(field.message, direction);
    if (field.enum !== undefined) {
      return { type: "string", enum: field.enum.values.map(({ name }) => name) };
    }
    return scalars[field.scalar ?? ScalarType.STRING] ?? { type: "string" };
  }
}

/** Fields without presence are written with their default value, too. */
function isAlwaysWritten(field: DescField): boolean {
  if (field.fieldKind === "list" || field.fieldKind === "map") return true;
  return field.fieldKind !== "message" && field.oneof === undefined && !field.proto.proto3Optional;
}

/** A message whose fields all belong to one oneof has exactly one of them. */
function oneofKeywords(message: DescMessage, fields: readonly DescField[]): Schema {
  const [oneof, ...more] = message.oneofs;
  if (oneof === undefined || more.length > 0 || oneof.fields.length !== fields.length) return {};
  return { minProperties: 1, maxProperties: 1 };
}

const integer = (format: string, minimum: number, maximum: number): Schema => ({
  type: "integer",
  format,
  minimum,
  maximum,
});
const int32 = integer("int32", -(2 ** 31), 2 ** 31 - 1);
const uint32 = integer("uint32", 0, 2 ** 32 - 1);
/** JSON numbers are exact up to 2^53 only. */
const int64: Schema = { type: "string", format: "int64", pattern: "^-?[0-9]+$" };
const uint64: Schema = { type: "string", format: "uint64", pattern: "^[0-9]+$" };

const scalars: Readonly<Record<number, Schema>> = {
  [ScalarType.DOUBLE]: { type: "number", format: "double" },
  [ScalarType.FLOAT]: { type: "number", format: "float" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};
