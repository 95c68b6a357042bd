import { defineWorkflow, ExecutionError } from "svc";

interface Order {
  id: string;
  items: { sku: string; cents: number }[];
  card: string;
}

/**
 * Reserves the items, charges the card and ships. Every step is a child execution with a key: a retry of the workflow finds
 * the results of the steps that have run and does not repeat them.
 */
export default defineWorkflow(async ({ id, items, card }: Order, ctx) => {
  await Promise.all(
    items.map(({ sku }) => ctx.run("reserve", { order: id, sku }, { key: `reserve-${sku}` })),
  );
  const cents = items.reduce((sum, item) => sum + item.cents, 0);
  let payment: unknown;
  try {
    payment = await ctx.run("charge", { order: id, cents, card }, { key: "charge" });
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error;
    // The card was declined, or the retries of the agent are used up.
    await Promise.all(
      items.map(({ sku }) => ctx.run("release", { order: id, sku }, { key: `release-${sku}` })),
    );
    return { id, status: "cancelled", reason: error.message };
  }
  const shipment = await ctx.run("ship", { order: id, skus: items.map(({ sku }) => sku) }, { key: "ship" });
  return { id, status: "shipped", payment, shipment };
});
