import type { Delivery } from "../../proto/svc/v1/webhook_pb.ts";
import { ago, moment } from "../api/timestamps.ts";
import { out } from "../terminal/colors.ts";
import { bytes, cleanLine, prettyJson } from "../terminal/format.ts";
import { type Cell, fields, indent } from "../terminal/table.ts";

/** `--outcome`, on commands about deliveries. */
export const outcomes = {
  outcome: {
    type: "enum",
    options: ["accepted", "replayed", "rejected"],
    valueHint: "outcome",
    description: "Only those that ended so",
  },
} as const;

/** Deliveries as rows of a table. */
export function deliveryRows(deliveries: readonly Delivery[]): Cell[][] {
  return deliveries.map((delivery) => [
    delivery.deliveryId,
    `${delivery.name}/${delivery.slug}`,
    outcomeCell(delivery.outcome),
    String(delivery.httpStatus),
    ago(delivery.receivedAt),
    delivery.outcome === "rejected" ? cleanLine(delivery.reason) : delivery.executionId,
  ]);
}

/** One delivery with its headers and payload. */
export function deliveryText(delivery: Delivery): string {
  const { text, paint } = outcomeCell(delivery.outcome);
  const headers = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${cleanLine(value)}`);
  const parts = [
    fields([
      ["delivery", delivery.deliveryId],
      ["outcome", `${paint(text)} (HTTP ${delivery.httpStatus})`],
      ["reason", cleanLine(delivery.reason)],
      [delivery.kind, delivery.name],
      ["webhook", delivery.slug],
      ["came", moment(delivery.receivedAt)],
      ["body", bytes(delivery.sizeBytes)],
      ["execution", delivery.executionId],
      ["deployment", `${delivery.deploymentId} (${delivery.environment})`],
    ]),
  ];
  if (headers.length > 0) parts.push(`${out.bold("Headers")}\n${indent(headers.join("\n"))}`);
  if (delivery.payload !== undefined) {
    parts.push(`${out.bold("Payload")}\n${indent(prettyJson(delivery.payload))}`);
  }
  return parts.join("\n\n");
}

function outcomeCell(outcome: string): Exclude<Cell, string> {
  const paint = outcome === "accepted" ? out.green : outcome === "rejected" ? out.red : out.dim;
  return { text: outcome, paint };
}
