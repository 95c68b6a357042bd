/** The webhook URLs: their bodies, headers and responses, which differ from the messages of TriggerWebhook. */
import type { DescMethod } from "@bufbuild/protobuf";
import { executionFailure } from "../errors.ts";
import { payloadExample, responseExample } from "./examples/index.ts";
import type { Behavior, Schema, SchemaSource } from "./types.ts";

export const prefer: Schema = {
  name: "Prefer",
  in: "header",
  description:
    "`wait=<seconds>`, at most 60: waits for the execution to finish (RFC 7240). A response to a request that waited carries `Preference-Applied`.",
  schema: { type: "string", pattern: "wait=[0-9]+" },
  example: "wait=30",
};

export const idempotencyKey: Schema = {
  name: "Idempotency-Key",
  in: "header",
  description: "Requests with the same key and content within 24 hours start one execution.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  example: "8e03978e-40d5-43dd-bc93-6894a57f9324",
};
const webhookKey: Schema = {
  ...idempotencyKey,
  description: `${idempotencyKey.description} Ignored where the signature covers a delivery id, which then takes its place.`,
};

const header = (description: string, example: string): Schema => ({
  description,
  schema: { type: "string" },
  example,
});
const location = header("Path of the execution.", "/api/v1/executions/exe_01kjq2x4n7h2d9f5s8v3y6b1gc");
const applied = header("The applied preference.", "wait=30");
export const replayed: Schema = header("`true` when the idempotency key was used before.", "true");
const limits = {
  RateLimit: header("The remaining quota of each limit.", '"webhook";r=99;t=1'),
  "RateLimit-Policy": header("The limits.", '"webhook";q=50;w=1'),
};

const executionId = "exe_01kjq2x4n7h2d9f5s8v3y6b1gc";

export const webhookSchemas: Readonly<Record<string, Schema>> = {
  WebhookAccepted: {
    type: "object",
    description: "The accepted execution.",
    properties: {
      execution_id: { type: "string", description: "Execution id: `exe_` and 26 characters." },
      status: {
        type: "string",
        description: "`queued`, or the current status after a wait or for a repeated idempotency key.",
      },
    },
    required: ["execution_id", "status"],
  },
  WebhookResult: {
    type: "object",
    description: "The finished execution.",
    properties: {
      execution_id: { type: "string", description: "Execution id: `exe_` and 26 characters." },
      status: { type: "string", description: "Always `succeeded`." },
      output: { description: "Output of the execution, any JSON value." },
    },
    required: ["execution_id", "status", "output"],
  },
  WebhookFailure: {
    description: "The error of a request that waited for an execution that failed or was cancelled.",
    allOf: [
      { $ref: "#/components/schemas/Error" },
      {
        type: "object",
        properties: { execution_id: { type: "string", description: "Absent when the service failed." } },
      },
    ],
  },
};

function failure(): Schema {
  const example = executionFailure({ message: "TypeError: no title", violations: [] }, executionId);
  return {
    description: "With `Prefer: wait`: the execution failed or was cancelled. Otherwise the service failed.",
    content: content("WebhookFailure", example),
  };
}

function content(name: string, example: unknown): Schema {
  return { "application/json": { schema: { $ref: `#/components/schemas/${name}` }, example } };
}

const text = { schema: { type: "string" } };

export const webhook: Behavior = {
  operationIds: ["triggerAgentWebhook", "triggerWorkflowWebhook", "triggerWebhook"],
  description:
    "Triggers the agent or workflow of a webhook with the mapped payload. The execution is on disk before the response. The URL is the secret: no API key is needed. Webhooks with a signature scheme also verify the signature of the body.",
  headers: [prefer, webhookKey],
  requestBody: {
    description: "The payload. Content types other than JSON are converted to a JSON object.",
    required: true,
    content: {
      "application/json": {
        schema: { type: "object", additionalProperties: true },
        example: payloadExample,
      },
      "application/x-www-form-urlencoded": { schema: { type: "object", additionalProperties: true } },
      "multipart/form-data": { schema: { type: "object", additionalProperties: true } },
      "application/xml": text,
      "text/plain": text,
    },
  },
  responses: () => ({
    200: {
      description:
        "With `Prefer: wait`: the execution succeeded in time. The body is empty for a webhook with `respond: 200`, and the output of the execution for one with `respond: output`, unless its code sets another status, other headers and another body.",
      headers: {
        Location: location,
        "Preference-Applied": applied,
        "Idempotent-Replayed": replayed,
        ...limits,
      },
      content: content("WebhookResult", {
        execution_id: executionId,
        status: "succeeded",
        output: { priority: "high" },
      }),
    },
    202: {
      description: "The execution is queued, or has not finished within the wait.",
      headers: {
        Location: location,
        "Preference-Applied": applied,
        "Idempotent-Replayed": replayed,
        ...limits,
      },
      content: content("WebhookAccepted", { execution_id: executionId, status: "queued" }),
    },
    500: failure(),
  }),
  errors: [400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503],
};

export function redeliverResponses(schemas: SchemaSource, method: DescMethod): Record<string, Schema> {
  return {
    200: {
      description: "The new execution; with `Prefer: wait`, its output if it succeeded in time.",
      headers: { Location: location, "Preference-Applied": applied },
      content: {
        "application/json": {
          schema: schemas.ref(method.output, "response"),
          example: responseExample(method),
        },
      },
    },
    500: failure(),
  };
}
