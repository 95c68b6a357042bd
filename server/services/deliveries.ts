/** Lists, shows and redelivers webhook deliveries. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type { ProjectDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import {
  type Delivery,
  DeliverySchema,
  ListDeliveriesResponseSchema,
  type WebhookService,
} from "../../proto/svc/v1/webhook_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { fail, notFound } from "../errors.ts";
import { isId } from "../ids.ts";
import { type DeliveryRow, type DeliverySummary, getDelivery, listDeliveries } from "../store/deliveries.ts";
import { getDeployment } from "../store/deployments.ts";
import { parseStored } from "../store/json.ts";
import { sourcesOfKept } from "../webhooks/mapping-sources.ts";
import { type Route, routeFrom } from "../webhooks/route-table.ts";
import type { App } from "./app.ts";
import { checkedWord, environmentFilter, paged, pageOf } from "./request.ts";
import { triggerResponse } from "./trigger-response.ts";

const outcomes = ["accepted", "replayed", "rejected", "handshake"] as const;

type DeliveryMethods = Pick<
  ServiceImpl<typeof WebhookService>,
  "listDeliveries" | "getDelivery" | "redeliverWebhook"
>;

export function deliveryMethods(app: App): DeliveryMethods {
  async function require(orgId: string, deliveryId: string): Promise<DeliveryRow> {
    await app.rejections.flush();
    const row = isId("dlv", deliveryId)
      ? await app.engine.read(() => getDelivery(orgId, deliveryId))
      : undefined;
    if (row === undefined) throw notFound(`There is no delivery '${deliveryId.slice(0, 80)}'.`);
    return row;
  }

  /** The route as defined by the deployment that received the delivery. */
  async function originalRoute(row: DeliveryRow): Promise<Route> {
    const deployment = await app.engine.read(() => getDeployment(row.org_id, row.deployment_id));
    const definition =
      deployment === undefined ? undefined : parseStored<ProjectDefinition>(deployment.definition);
    const targets = row.kind === "agent" ? definition?.agents : definition?.workflows;
    const target = targets?.find((candidate) => candidate.name === row.name);
    const webhook = target?.webhooks.find((candidate) => candidate.slug === row.slug);
    if (deployment === undefined || webhook === undefined || deployment.status === "deleted") {
      throw fail(
        Code.FailedPrecondition,
        `Cannot redeliver to deployment ${row.deployment_id}: it was deleted. Redeliver to the active deployment instead.`,
        { status: 409 },
      );
    }
    return routeFrom({ ...row, project: deployment.project, gone: 0, definition: JSON.stringify(webhook) });
  }

  return {
    async listDeliveries(request, context) {
      const { orgId } = callerOf(context);
      const page = pageOf(request);
      const filter = {
        slug: request.slug,
        name: request.name,
        outcome: checkedWord("outcome", request.outcome, outcomes),
        environment: environmentFilter(request.environment, context),
        since: request.since === undefined ? 0 : timestampMs(request.since),
        before: page.before,
        limit: page.limit + 1,
      };
      await app.rejections.flush();
      const found = await app.engine.read(() => listDeliveries(orgId, filter));
      const { rows, nextPageToken } = paged(found, page, (row) => row.delivery_id);
      return create(ListDeliveriesResponseSchema, { deliveries: rows.map(toDelivery), nextPageToken });
    },

    async getDelivery(request, context) {
      const row = await require(callerOf(context).orgId, request.deliveryId);
      const message = toDelivery(row);
      message.headers = parseStored<Record<string, string>>(row.headers);
      if (row.payload !== null) message.payload = parseStored<JsonObject>(row.payload);
      return message;
    },

    async redeliverWebhook(request, context) {
      const { orgId } = callerOf(context);
      const row = await require(orgId, request.deliveryId);
      if (row.payload === null) {
        throw fail(
          Code.FailedPrecondition,
          `Cannot redeliver ${row.delivery_id}: its payload was not kept. A rejected request's payload is kept when its signature is valid and its body can be read.`,
          { status: 409 },
        );
      }
      const { environment, kind, name, slug } = row;
      const route = request.current
        ? await app.trigger.route({ orgId, environment, target: { kind, name }, slug })
        : await originalRoute(row);
      const payload = { value: parseStored<JsonObject>(row.payload), text: row.payload };
      const sources = sourcesOfKept(route, parseStored<Record<string, string>>(row.headers));
      const accepted = await app.trigger.accept(route, payload, null, null, sources);
      return await triggerResponse(app, context, orgId, accepted);
    },
  };
}

function toDelivery(row: DeliverySummary): Delivery {
  return create(DeliverySchema, {
    deliveryId: row.delivery_id,
    receivedAt: timestampFromMs(row.received_at),
    kind: row.kind,
    name: row.name,
    slug: row.slug,
    environment: row.environment,
    outcome: row.outcome,
    httpStatus: row.http_status,
    reason: row.reason,
    executionId: row.execution_id ?? "",
    deploymentId: row.deployment_id,
    sizeBytes: row.size_bytes,
  });
}
