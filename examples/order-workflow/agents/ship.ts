import { defineAgent } from "svc";

/** Orders a shipment. */
export default defineAgent(({ order, skus }: { order: string; skus: string[] }) => {
  console.log(`shipping ${skus.length} items of ${order}`);
  return { tracking: `T-${order}` };
});
