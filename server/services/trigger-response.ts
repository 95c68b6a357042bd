/** The response to a trigger over RPC, after waiting as the `Prefer` header of the request asks. */
import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { type TriggerWebhookResponse, TriggerWebhookResponseSchema } from "../../proto/svc/v1/webhook_pb.ts";
import { executionFailed } from "../errors.ts";
import { parseStored } from "../store/tables/json.ts";
import type { Accepted } from "../webhooks/trigger.ts";
import type { App } from "./app.ts";
import { fitMessage, hasMessageLimit } from "./grpc-size.ts";

/** @throws ConnectError `internal` when the caller waited and the execution failed or was cancelled */
export async function triggerResponse(
  app: App,
  context: HandlerContext,
  orgId: string,
  accepted: Accepted,
): Promise<TriggerWebhookResponse> {
  const { executionId, replayed } = accepted;
  const prefer = context.requestHeader.get("prefer");
  const result = await app.waiters.result(orgId, accepted, prefer, context.signal);
  const { status, waitSeconds, output, failure } = result;
  const headers: Record<string, string> = { location: `/api/v1/executions/${executionId}` };
  if (waitSeconds !== null) headers["preference-applied"] = `wait=${waitSeconds}`;
  if (failure !== null) throw executionFailed(failure, executionId, { status: 500, headers });
  for (const [name, value] of Object.entries(headers)) context.responseHeader.set(name, value);
  const response = create(TriggerWebhookResponseSchema, { executionId, status, replayed });
  if (output === null) return response;
  response.output = fromJson(ValueSchema, parseStored<JsonValue>(output));
  if (!hasMessageLimit(context)) return response;
  return fitMessage(TriggerWebhookResponseSchema, response, output.length, [omitOutput]);
}

function omitOutput(response: TriggerWebhookResponse): void {
  response.output = undefined;
  response.outputOmitted = true;
}
