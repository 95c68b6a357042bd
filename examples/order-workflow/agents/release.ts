import { defineAgent } from "svc";

/** Releases a reserved item. */
export default defineAgent(({ order, sku }: { order: string; sku: string }) => {
  console.log(`released ${sku} of ${order}`);
  return { sku };
});
