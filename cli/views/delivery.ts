import type { Delivery } from "../../proto/svc/v1/webhook_pb.ts";
import { ago, timeAndAge } from "../api/timestamps.ts";
import type { Column } from "../terminal/columns.ts";
import { bytes } from "../terminal/format.ts";
import { prettyJson, sanitizeLine } from "../terminal/sanitize.ts";
import { type Cell, fields, paragraphs, section } from "../terminal/table.ts";
import { paintedStatus, statusCell } from "./status.ts";

/** The column of the environment appears only when the deliveries are of several. */
export function deliveryColumns(deliveries: readonly Delivery[]): Column[] {
  return [
    "ID",
    { title: "WEBHOOK", role: "name" },
    ...(haveEnvironments(deliveries) ? [{ title: "ENVIRONMENT", role: "name" } as const] : []),
    "OUTCOME",
    // 202 for an accepted request, even if its sender waited for the output.
    { title: "AT RECEIPT", role: "extra" },
    { title: "RECEIVED", role: "extra" },
    { title: "EXECUTION OR REASON", role: "detail" },
  ];
}

function haveEnvironments(deliveries: readonly Delivery[]): boolean {
  return new Set(deliveries.map(({ environment }) => environment)).size > 1;
}

/** Deliveries as rows of a table. */
export function deliveryRows(deliveries: readonly Delivery[]): Cell[][] {
  const showsEnvironment = haveEnvironments(deliveries);
  return deliveries.map((delivery) => [
    delivery.deliveryId,
    `${delivery.name}/${delivery.slug}`,
    ...(showsEnvironment ? [delivery.environment] : []),
    statusCell(delivery.outcome),
    String(delivery.httpStatus),
    ago(delivery.receivedAt),
    delivery.executionId || delivery.reason,
  ]);
}

/** One delivery with its headers and payload. */
export function deliveryText(delivery: Delivery): string {
  const headers = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${sanitizeLine(value)}`);
  return paragraphs([
    fields([
      ["delivery", delivery.deliveryId],
      ["outcome", `${paintedStatus(delivery.outcome)} (HTTP ${delivery.httpStatus} at receipt)`],
      ["reason", sanitizeLine(delivery.reason)],
      [delivery.kind, delivery.name],
      ["webhook", delivery.slug],
      ["received", timeAndAge(delivery.receivedAt)],
      ["body", bytes(delivery.sizeBytes)],
      ["execution", delivery.executionId],
      ["deployment", `${delivery.deploymentId} (${delivery.environment})`],
    ]),
    section("Headers", headers),
    section("Payload", delivery.payload === undefined ? "" : prettyJson(delivery.payload)),
  ]);
}
