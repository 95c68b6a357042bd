/** A function that the model may call. */
export interface Tool {
  description: string;
  /** JSON Schema of the arguments. */
  parameters: object;
  run(args: Record<string, unknown>): unknown | Promise<unknown>;
}

const orders: Record<string, string> = { 1001: "shipped on Monday", 1002: "waiting for payment" };

export const tools: Record<string, Tool> = {
  order_status: {
    description: "Returns the status of an order.",
    parameters: {
      type: "object",
      properties: { id: { type: "string", description: "Number of the order" } },
      required: ["id"],
    },
    run: ({ id }) => ({ status: orders[String(id)] ?? "unknown order" }),
  },
  today: {
    description: "Returns the current date.",
    parameters: { type: "object", properties: {} },
    run: () => ({ date: new Date().toISOString().slice(0, 10) }),
  },
};
