/** The types that the parts of the generator share. */
import type { DescMessage, DescMethod } from "@bufbuild/protobuf";

/** A JSON Schema of the dialect 2020-12, or another object of the OpenAPI document. */
export type Schema = { [keyword: string]: unknown };

/**
 * - `request`: unknown fields are rejected, and only fields that the contract declares as required are.
 * - `response`: new versions may add fields, and the server always writes scalars, lists and maps.
 */
export type Direction = "request" | "response";

/** Collects the schemas of messages. */
export interface SchemaSource {
  /** A reference to the schema of a message. */
  ref(message: DescMessage, direction: Direction): Schema;
}

/** The HTTP behavior of a method beyond its messages. */
export interface Behavior {
  /** Ids of the operations of the method's bindings. */
  operationIds?: readonly string[];
  /** Replaces the comment of the method. */
  description?: string;
  /** Header parameters. */
  headers?: readonly Schema[];
  requestBody?: Schema;
  /** The responses that are not errors. */
  responses?(schemas: SchemaSource, method: DescMethod): Record<string, Schema>;
  /** Statuses of the errors. */
  errors?: readonly number[];
}
