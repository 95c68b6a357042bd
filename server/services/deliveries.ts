/** Lists, shows and redelivers webhook deliveries. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ProjectDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import {
  type Delivery,
  DeliverySchema,
  ListDeliveriesResponseSchema,
  type WebhookService,
} from "../../proto/svc/v1/webhook_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { noResource, wrongState } from "../errors.ts";
import { isId } from "../ids.ts";
import {
  type DeliveryRow,
  type DeliverySummary,
  getDelivery,
  listDeliveries,
} from "../store/tables/deliveries.ts";
import { getDeployment } from "../store/tables/deployments.ts";
import { parseStored } from "../store/tables/json.ts";
import { sourcesOfKept } from "../webhooks/mapping-sources.ts";
import { type Route, routeFrom } from "../webhooks/route-table.ts";
import type { App } from "./app.ts";
import { fitMessage, hasMessageLimit } from "./grpc-size.ts";
import { listPage, pageOf } from "./page.ts";
import { environmentFilter, traceOf } from "./request.ts";
import { Search } from "./search.ts";
import { triggerResponse } from "./trigger-response.ts";

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
    if (row === undefined) {
      throw noResource("delivery", deliveryId, `There is no delivery '${deliveryId.slice(0, 80)}'.`);
    }
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
      throw wrongState(
        "DEPLOYMENT_DELETED",
        "deployment",
        row.deployment_id,
        `Cannot redeliver to deployment ${row.deployment_id}: it was deleted. Redeliver to the active deployment instead.`,
      );
    }
    return routeFrom({ ...row, project: deployment.project, gone: 0, definition: JSON.stringify(webhook) });
  }

  return {
    async listDeliveries(request, context) {
      const { orgId } = callerOf(context);
      const { slug, name, outcome } = request;
      const filter = {
        slug,
        name,
        outcome,
        environment: environmentFilter(request.environment, context),
        since: request.since === undefined ? 0 : timestampMs(request.since),
      };
      const page = pageOf(request, ["ListDeliveries", filter]);
      await app.rejections.flush();
      const search = new Search((before, limit, size) =>
        app.engine.read(() => listDeliveries(orgId, filter, before, limit, size)),
      );
      const { entries, nextPageToken } = await listPage(page, {
        read: (before, limit) => search.read(before, limit),
        stoppedAt: () => search.stoppedAt,
        keyOf: (row) => row.delivery_id,
        schema: DeliverySchema,
        convert: toDelivery,
      });
      return create(ListDeliveriesResponseSchema, { deliveries: entries, nextPageToken });
    },

    async getDelivery(request, context) {
      const row = await require(callerOf(context).orgId, request.deliveryId);
      const message = toDelivery(row);
      message.headers = parseStored<Record<string, string>>(row.headers);
      if (row.payload === null) return message;
      message.payload = parseStored<JsonObject>(row.payload);
      if (!hasMessageLimit(context)) return message;
      const omitPayload = (delivery: Delivery) => {
        delivery.payload = undefined;
        delivery.payloadOmitted = true;
      };
      return fitMessage(DeliverySchema, message, row.payload.length + row.headers.length, [omitPayload]);
    },

    async redeliverWebhook(request, context) {
      const { orgId } = callerOf(context);
      const row = await require(orgId, request.deliveryId);
      if (row.payload === null) {
        throw wrongState(
          "PAYLOAD_NOT_KEPT",
          "delivery",
          row.delivery_id,
          `Cannot redeliver ${row.delivery_id}: its payload was not kept. The payload of a rejected request is kept when its body can be read and its signature is valid, or the webhook has \`keep_rejected: true\`.`,
        );
      }
      const { environment, kind, name, slug } = row;
      const route = request.current
        ? await app.trigger.route({ orgId, environment, target: { kind, name }, slug })
        : await originalRoute(row);
      const payload = { value: parseStored<JsonObject>(row.payload), text: row.payload };
      const sources = sourcesOfKept(route, parseStored<Record<string, string>>(row.headers));
      const accepted = await app.trigger.redeliver(route, payload, sources, traceOf(app, context));
      const response = await triggerResponse(app, context, orgId, accepted);
      response.unverified = row.outcome === "rejected" && row.http_status === 401;
      return response;
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
    sizeBytes: BigInt(row.size_bytes),
  });
}
