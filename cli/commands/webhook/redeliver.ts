import type { Client } from "@connectrpc/connect";
import type { Delivery, WebhookService } from "../../../proto/svc/v1/webhook_pb.ts";
import { connect } from "../../api/connection.ts";
import { timestampOf } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { Exit, UsageError } from "../../app/errors.ts";
import { environment, force, outcome, output, since, target, targetOf } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { count } from "../../terminal/format.ts";
import { print, printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { table } from "../../terminal/table.ts";
import { deliveryColumns, deliveryRows } from "../../views/delivery.ts";

export default command({
  details:
    "Starts a new execution for one delivery, or for all deliveries that match the filters, oldest first. Signature, filter and idempotency key are not checked again. Requests with an invalid signature are redelivered by their id only, and ignored requests by their id or with --outcome ignored. Rejected requests without a kept payload are left out.",
  args: {
    "delivery-id": {
      type: "positional",
      required: false,
      description: "Delivery ID, `dlv_` and 26 characters",
    },
    current: {
      type: "boolean",
      description: "Use the field mapping and code of the active deployment",
    },
    slug: { type: "string", valueHint: "slug", description: "Filter by webhook slug" },
    ...outcome,
    ...target,
    ...since,
    ...environment,
    force: { ...force.force, description: "Do not ask for confirmation of several deliveries" },
    ...output,
  },
  examples: [["svc webhook redeliver --slug orders --since 2h --current", "Apply a corrected field mapping"]],
  async run(values) {
    const id = values["delivery-id"];
    const { name } = targetOf(values);
    const isFiltered =
      name !== "" ||
      [values.slug, values.outcome, values.since, values.environment].some((value) => value !== undefined);
    if (id === undefined && !isFiltered) {
      throw new UsageError(
        "Pass a delivery ID or a filter.",
        "Example: svc webhook redeliver --slug orders --since 2h",
      );
    }
    if (id !== undefined && isFiltered) {
      throw new UsageError("A delivery ID and filters exclude each other.", "Pass only one of them.");
    }
    const webhooks = await connect("webhooks", values);
    if (id !== undefined) {
      const redelivery = { deliveryId: id, current: values.current };
      const { executionId, unverified } = await webhooks.redeliverWebhook(redelivery);
      const result = { delivery_id: id, execution_id: executionId, ...(unverified && { unverified }) };
      if (unverified) {
        report.warning(`The signature of ${sanitizeLine(id)} was invalid: you vouch for its payload.`);
      }
      return values.json ? printJson({ deliveries: [result] }) : print(executionId);
    }
    const found = await listAll(webhooks, {
      slug: values.slug ?? "",
      name,
      outcome: values.outcome ?? "",
      environment: values.environment ?? "",
      since: timestampOf(values.since),
    });
    const selected = found.filter((delivery) => isSelected(delivery, values.outcome));
    const unverified = found.filter(isUnverified).length;
    if (unverified > 0) {
      const left = count(unverified, "request", "requests");
      report.warning(
        `${left} with an invalid signature left out: redeliver by id, if the webhook keeps their payload (keep_rejected: true).`,
      );
    }
    if (selected.length === 0 && !values.json) {
      report.line("No deliveries found.");
      return report.hint("Run `svc webhook deliveries` to list all deliveries.");
    }
    if (selected.length > 0) {
      if (!values.json)
        report.line(
          table(
            deliveryColumns(selected).slice(0, -1),
            deliveryRows(selected).map((row) => row.slice(0, -1)),
          ),
        );
      await confirm(`Run ${count(selected.length, "delivery", "deliveries")} again?`, values);
    }
    await redeliverAll(webhooks, selected.toReversed(), values);
  },
}) as Command;

/** A handshake has no payload. */
function isSelected(delivery: Delivery, outcome: string | undefined): boolean {
  if (isUnverified(delivery) || delivery.outcome === "handshake") return false;
  return delivery.outcome !== "ignored" || outcome === "ignored";
}

/** Anyone who knows the URL could have sent it. */
function isUnverified({ outcome, httpStatus }: Delivery): boolean {
  return outcome === "rejected" && httpStatus === 401;
}

type Webhooks = Client<typeof WebhookService>;

/** All deliveries that match, newest first. */
async function listAll(
  webhooks: Webhooks,
  filter: Parameters<Webhooks["listDeliveries"]>[0],
): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  let pageToken = "";
  do {
    const page = await webhooks.listDeliveries({ ...filter, pageSize: 1000, pageToken });
    deliveries.push(...page.deliveries);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return deliveries;
}

/**
 * Leaves out rejected requests whose payload was not kept, for example because it was no JSON.
 *
 * @throws Exit with code 1 when another delivery could not run
 */
async function redeliverAll(
  webhooks: Webhooks,
  deliveries: readonly Delivery[],
  values: { current: boolean; json: boolean },
): Promise<void> {
  const { isResponse, reasonOf, toCliError } = await import("../../api/error-messages.ts");
  let withoutPayload = 0;
  const results: { delivery_id: string; execution_id?: string; error?: string }[] = [];
  for (const { deliveryId } of deliveries) {
    try {
      const { executionId } = await webhooks.redeliverWebhook({ deliveryId, current: values.current });
      results.push({ delivery_id: deliveryId, execution_id: executionId });
      if (!values.json) print(executionId);
    } catch (error) {
      const { message } = toCliError(error);
      if (isResponse(error) && reasonOf(error) === "PAYLOAD_NOT_KEPT") {
        withoutPayload += 1;
        continue;
      }
      results.push({ delivery_id: deliveryId, error: message });
      if (!values.json) report.error(message.includes(deliveryId) ? message : `${deliveryId}: ${message}`);
    }
  }
  if (withoutPayload > 0) {
    const left = count(withoutPayload, "rejected request", "rejected requests");
    report.warning(`${left} without a payload left out: the sender must deliver again.`);
  }
  if (values.json) printJson({ deliveries: results });
  if (results.some(({ error }) => error !== undefined)) throw new Exit(1);
}
