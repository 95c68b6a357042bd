/** WebhookService: triggers over the RPC protocols, and the list of webhooks. */
import { create } from "@bufbuild/protobuf";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type { WebhookDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import {
  ListWebhooksResponseSchema,
  WebhookSchema,
  type WebhookService,
  type WebhookTarget,
  WebhookTargetSchema,
} from "../../proto/svc/v1/webhook_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { fail, invalid } from "../errors.ts";
import { listWebhooks, type WebhookRow } from "../store/activation.ts";
import { getDeployment } from "../store/deployments.ts";
import { parseStored } from "../store/json.ts";
import { getOrganization } from "../store/organizations.ts";
import { addressOf } from "../webhooks/address.ts";
import { idempotencyKeyOfCall } from "../webhooks/idempotency.ts";
import { encodePayload } from "../webhooks/payload.ts";
import type { App } from "./app.ts";
import { mappingMap, webhookUrl } from "./convert.ts";
import { deliveryMethods } from "./deliveries.ts";
import { environmentOf } from "./request.ts";
import { triggerResponse } from "./trigger-response.ts";

export function webhookService(app: App): ServiceImpl<typeof WebhookService> {
  return {
    async triggerWebhook(request, context) {
      const address = addressOf(request, environmentOf("", context));
      if (address === null) {
        throw invalid(
          "Cannot trigger: name the webhook by agent or workflow and slug, or by webhook_slug alone.",
        );
      }
      const route = await app.trigger.route(address);
      if (route.definition.signature !== null) {
        throw fail(
          Code.Unauthenticated,
          "This webhook is signed: only a POST to its URL, whose raw bytes can be checked, triggers it.",
        );
      }
      const payload = encodePayload((request.payload ?? {}) as JsonObject, app.config.limits);
      const name = context.requestHeader.get("idempotency-key");
      const key = idempotencyKeyOfCall(name, Buffer.from(payload.text));
      for (const [header, value] of Object.entries(app.limits.charge(route))) {
        context.responseHeader.set(header, value);
      }
      const accepted = await app.trigger.accept(route, payload, key, null);
      return await triggerResponse(app, context, route.orgId, accepted);
    },

    ...deliveryMethods(app),

    async listWebhooks(request, context) {
      const caller = callerOf(context);
      const environment = environmentOf(request.environment, context);
      const { organization, rows } = await app.engine.read(function* () {
        const organization = yield* getOrganization(caller.orgId);
        const kept: WebhookRow[] = [];
        const mine = new Map<string, boolean>();
        for (const row of yield* listWebhooks(caller.orgId, environment)) {
          let own = mine.get(row.deployment_id);
          if (own === undefined) {
            const deployment = yield* getDeployment(caller.orgId, row.deployment_id);
            own = deployment?.created_by === caller.keyId;
            mine.set(row.deployment_id, own);
          }
          if (own || !request.apiKeyOnly) kept.push(row);
        }
        return { organization, rows: kept };
      });
      return create(ListWebhooksResponseSchema, {
        organization: { orgId: caller.orgId, name: organization?.name ?? "" },
        agents: group(rows, "agent", app.baseUrl()),
        workflows: group(rows, "workflow", app.baseUrl()),
      });
    },
  };
}

function group(rows: readonly WebhookRow[], kind: string, baseUrl: string): WebhookTarget[] {
  const groups = new Map<string, WebhookTarget>();
  for (const row of rows) {
    if (row.kind !== kind) continue;
    const target = groups.get(row.name) ?? create(WebhookTargetSchema, { name: row.name });
    groups.set(row.name, target);
    const definition = parseStored<WebhookDefinition>(row.definition);
    const webhook = create(WebhookSchema, {
      slug: row.slug,
      url: webhookUrl(baseUrl, {
        orgId: row.org_id,
        environment: row.environment,
        kind: row.kind,
        name: row.name,
        slug: row.slug,
      }),
      fieldMapping: mappingMap(definition.fieldMapping),
      signatureScheme: definition.signature?.scheme ?? "",
    });
    target.webhooks.push(webhook);
  }
  return [...groups.values()];
}
