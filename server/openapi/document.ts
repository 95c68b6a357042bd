/** The OpenAPI document of all REST paths, from the descriptors of the contract. */
import type { DescService } from "@bufbuild/protobuf";
import { comments } from "../../proto/svc/v1/comments_pb.ts";
import { errorResponses, errorSchemas } from "./errors.ts";
import { pathsOf } from "./operations.ts";
import { Schemas } from "./schema.ts";
import type { Schema } from "./types.ts";
import { webhookSchemas } from "./webhooks.ts";

export interface DocumentOptions {
  services: readonly DescService[];
  version: string;
  /** The public URL of the service; null makes the addresses relative to that of the document. */
  publicUrl: string | null;
}

const introduction = `Deploys agents and workflows, and runs them on demand, on schedules and on webhooks.

Field names are in snake_case; requests may use camelCase too. Times are RFC 3339 in UTC. Unknown fields and query parameters are rejected. Lists are paged with \`page_size\` and \`page_token\`. Streams are newline-delimited JSON. Errors are the schema \`Error\`.`;

export function createDocument({ services, version, publicUrl }: DocumentOptions): Schema {
  const schemas = new Schemas();
  const methods = services.flatMap((service) => service.methods);
  const paths = { ...pathsOf(methods, schemas), ...probes };
  const base = publicUrl?.replace(/\/+$/, "") ?? "";
  return {
    openapi: "3.1.0",
    info: { title: "svc", version, description: introduction, license: { name: "MIT", identifier: "MIT" } },
    servers: [
      { url: base === "" ? "/" : base, description: "The environment `production`." },
      {
        url: `${base}/env/{environment}`,
        description: "Another environment.",
        variables: { environment: { default: "staging", description: "Name of the environment." } },
      },
    ],
    tags: services.map(({ name, typeName }) => ({
      name: name.replace(/Service$/, ""),
      description: comments[typeName] ?? "",
    })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas: { ...sorted(schemas.components), ...webhookSchemas, ...errorSchemas },
      responses: errorResponses,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "svc_<id>_<secret>",
          description:
            "An API key. Its scope is `read`, `trigger`, `deploy` or `full`; each scope includes the previous ones.",
        },
      },
    },
  };
}

function sorted(schemas: Readonly<Record<string, Schema>>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const probes = {
  "/livez": probe("isAlive", "Reports that the process answers", { 200: "The process answers." }),
  "/readyz": probe("isReady", "Reports whether the service accepts requests", {
    200: "The service accepts requests.",
    503: "The service is starting, shutting down, or one of its parts fails.",
  }),
};

function probe(operationId: string, summary: string, statuses: Record<number, string>): Schema {
  return {
    get: {
      operationId,
      tags: ["Health"],
      summary,
      description: `${summary}. No API key is needed.`,
      security: [],
      responses: Object.fromEntries(
        Object.entries(statuses).map(([status, description]) => [
          status,
          {
            description,
            content: {
              "application/json": {
                schema: { type: "object", properties: { status: { type: "string" } } },
                example: { status: status === "200" ? "ok" : "unavailable" },
              },
            },
          },
        ]),
      ),
    },
  };
}
