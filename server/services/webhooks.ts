/** WebhookService: triggers over the RPC protocols, and the list of webhooks. */
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { WebhookDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import {
  ListWebhooksResponseSchema,
  TriggerWebhookResponseSchema,
  WebhookSchema,
  type WebhookService,
  type WebhookTarget,
  WebhookTargetSchema,
} from "../../proto/svc/v1/webhook_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { invalidField } from "../errors.ts";
import { listWebhooks, type WebhookRow } from "../store/tables/activation.ts";
import { parseStored } from "../store/tables/json.ts";
import { getOrganization } from "../store/tables/organizations.ts";
import { addressOf } from "../webhooks/address.ts";
import { idempotencyKeyOfCall } from "../webhooks/idempotency.ts";
import { encodePayload } from "../webhooks/payload.ts";
import { webhookName } from "../webhooks/route-table.ts";
import type { App } from "./app.ts";
import { mappingMap, webhookUrl } from "./convert.ts";
import { deliveryMethods } from "./deliveries.ts";
import { listPage, pageOf, rowsAfter } from "./page.ts";
import { environmentOf, hasExactNumbers, traceOf } from "./request.ts";
import { checkCall } from "./trigger-checks.ts";
import { triggerResponse } from "./trigger-response.ts";

export function webhookService(app: App): ServiceImpl<typeof WebhookService> {
  return {
    async triggerWebhook(request, context) {
      const address = addressOf(request, environmentOf("", context));
      if (address === null) {
        throw invalidField(
          "slug",
          "CONFLICT",
          "Cannot trigger: name the webhook by agent or workflow and slug, or by webhook_slug alone.",
        );
      }
      const route = await app.trigger.route(address);
      checkCall(app, context, route);
      const payload = encodePayload(
        (request.payload ?? {}) as JsonObject,
        app.config.limits,
        hasExactNumbers(context),
      );
      const name = context.requestHeader.get("idempotency-key");
      const key = idempotencyKeyOfCall(name, route, Buffer.from(payload.text));
      for (const [header, value] of Object.entries(app.limits.charge(route))) {
        context.responseHeader.set(header, value);
      }
      if (app.trigger.ignores(route, payload.value, {}, "") !== null) {
        return create(TriggerWebhookResponseSchema, { status: "ignored" });
      }
      const accepted = await app.trigger.accept(route, payload, key, null, undefined, traceOf(app, context));
      return await triggerResponse(app, context, route.orgId, accepted);
    },

    ...deliveryMethods(app),

    async listWebhooks(request, context) {
      const caller = callerOf(context);
      const environment = environmentOf(request.environment, context);
      const { organization, rows } = await app.engine.read(function* () {
        const organization = yield* getOrganization(caller.orgId);
        const keyId = request.apiKeyOnly ? caller.keyId : "";
        return { organization, rows: yield* listWebhooks(caller.orgId, environment, keyId) };
      });
      const page = pageOf(request, ["ListWebhooks", environment, request.apiKeyOnly], 1000);
      const targets = (["agent", "workflow"] as const).flatMap((kind) =>
        group(app, rows, kind).map((target) => ({ kind, target })),
      );
      const keyOf = ({ kind, target }: (typeof targets)[number]) => `${kind} ${target.name}`;
      const kinds = new Map<WebhookTarget, string>();
      const { entries, nextPageToken } = await listPage(page, {
        read: rowsAfter(targets, keyOf),
        keyOf,
        schema: WebhookTargetSchema,
        convert({ kind, target }) {
          kinds.set(target, kind);
          return target;
        },
      });
      return create(ListWebhooksResponseSchema, {
        organization: { orgId: caller.orgId, name: organization?.name ?? "" },
        agents: entries.filter((target) => kinds.get(target) === "agent"),
        workflows: entries.filter((target) => kinds.get(target) === "workflow"),
        nextPageToken,
      });
    },
  };
}

function group(app: App, rows: readonly WebhookRow[], kind: string): WebhookTarget[] {
  const baseUrl = app.baseUrl();
  const groups = new Map<string, WebhookTarget>();
  for (const row of rows) {
    if (row.kind !== kind) continue;
    const target = groups.get(row.name) ?? create(WebhookTargetSchema, { name: row.name });
    groups.set(row.name, target);
    const definition = parseStored<WebhookDefinition>(row.definition);
    const { limit, remaining } = app.limits.stateOf(row.org_id, webhookName(row), definition.rateLimit);
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
      rateLimit: { ...limit, burst: Math.floor(limit.burst), remaining },
    });
    target.webhooks.push(webhook);
  }
  return [...groups.values()];
}
