/** The HTTP behavior of methods whose REST paths do more than their messages: headers, statuses and other bodies. */
import type { DescMethod } from "@bufbuild/protobuf";
import { responseExample } from "./examples/index.ts";
import type { Behavior, Schema, SchemaSource } from "./types.ts";
import { idempotencyKey, prefer, redeliverResponses, replayed, webhook } from "./webhooks.ts";

/** By method. */
export const behaviors: Readonly<Record<string, Behavior>> = {
  TriggerWebhook: webhook,
  RunExecution: {
    headers: [idempotencyKey],
    responses: (schemas, method) => ({
      200: {
        description: "The execution.",
        headers: { "Idempotent-Replayed": replayed },
        content: json(schemas, method),
      },
    }),
    errors: [400, 401, 403, 404, 413, 415, 422, 503],
  },
  RedeliverWebhook: { headers: [prefer], responses: redeliverResponses },
  DownloadDeployment: {
    description: "Redirects to a short-lived URL of the package, a gzip-compressed tar archive.",
    responses: (schemas, method) => ({
      307: {
        description: "The URL of the package, which needs no API key, is in `Location`.",
        headers: { Location: { required: true, schema: { type: "string", format: "uri" } } },
        content: json(schemas, method),
      },
    }),
  },
  Check: {
    responses: (schemas, method) => ({
      200: { description: "All checks passed.", content: json(schemas, method) },
      503: {
        description: "A check failed.",
        content: json(schemas, method, { status: "degraded", checks: failedChecks }),
      },
    }),
  },
};

const failedChecks = { store: "ok", storage: "failing", executor: "ok", scheduler: "ok" };

function json(schemas: SchemaSource, method: DescMethod, differences: Schema = {}): Schema {
  const example = { ...(responseExample(method) as Schema), ...differences };
  return { "application/json": { schema: schemas.ref(method.output, "response"), example } };
}
