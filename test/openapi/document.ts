/** Reads the OpenAPI document as data. */
import { type Caller, ok } from "../support/rest.ts";

export interface MediaType {
  schema: object;
  example?: unknown;
}

export interface Parameter {
  name: string;
  in: string;
  schema: object;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: object[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, MediaType> }>;
}

export interface OpenApi {
  openapi: string;
  info: { version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, { properties?: Record<string, { description?: string; $ref?: string }> }>;
    responses: Record<string, { description: string; content: Record<string, MediaType> }>;
  };
}

/** With a key, the document of the caller. */
export function fetchDocument(caller: Caller, key: string | null = null): Promise<OpenApi> {
  return ok<OpenApi>(caller, "GET", "/openapi.json", { key });
}

export function operationsOf({ paths }: OpenApi): { path: string; verb: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ path, verb, operation })),
  );
}
