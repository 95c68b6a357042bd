import { defineAgent } from "svc";

/** Reserves an item. Replace it by a request to your warehouse. */
export default defineAgent(({ order, sku }: { order: string; sku: string }) => {
  console.log(`reserved ${sku} for ${order}`);
  return { sku };
});
