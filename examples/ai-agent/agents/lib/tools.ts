interface Order {
  status: "paid" | "shipped";
  carrier: string | null;
}

/** Replace this by a request to your shop. */
const orders: Readonly<Record<string, Order>> = {
  1001: { status: "shipped", carrier: "DHL" },
  1002: { status: "paid", carrier: null },
};

/** The tools as the model sees them. */
export const tools = [
  {
    type: "function",
    function: {
      name: "find_order",
      description: "Returns the status of an order.",
      parameters: {
        type: "object",
        properties: { id: { type: "string", description: "Number of the order" } },
        required: ["id"],
      },
    },
  },
] as const;

/** Runs a tool. Errors are results: the model can correct its call. */
export function callTool(name: string, json: string): unknown {
  if (name !== "find_order") return { error: `There is no tool ${name}.` };
  let id: unknown;
  try {
    ({ id } = JSON.parse(json) as { id?: unknown });
  } catch {
    return { error: "The arguments are not JSON." };
  }
  const order = typeof id === "string" && Object.hasOwn(orders, id) ? orders[id] : undefined;
  return order ?? { error: `There is no order ${String(id)}.` };
}
