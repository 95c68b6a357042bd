import { defineAgent } from "svc";
import { type Order, summarize } from "./lib/summary.ts";

interface Input {
  /** Days before now that the report covers. */
  days?: number;
}

const example: readonly Order[] = [
  { product: "tea", cents: 450 },
  { product: "milk", cents: 120 },
  { product: "tea", cents: 450 },
];

/** Reads the orders of the last days and sends a summary. Without SHOP_URL it reports example orders. */
export default defineAgent(async ({ days = 1 }: Input, ctx) => {
  const { SHOP_URL, REPORT_URL } = ctx.secrets;
  const since = new Date(Date.now() - days * 86_400_000).toISOString();
  const orders =
    SHOP_URL === undefined ? example : await read(`${SHOP_URL}/orders?since=${since}`, ctx.signal);
  const report = summarize(orders);
  ctx.log.info(report.text);
  if (REPORT_URL === undefined) return { ...report, sent: false };
  const response = await fetch(REPORT_URL, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": ctx.executionId },
    body: JSON.stringify({ text: report.text }),
    signal: ctx.signal,
  });
  if (!response.ok) throw new Error(`Cannot send the report: HTTP ${response.status}.`);
  return { ...report, sent: true };
});

async function read(url: string, signal: AbortSignal): Promise<Order[]> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`Cannot read the orders: HTTP ${response.status}.`);
  return (await response.json()) as Order[];
}
