export interface Order {
  product: string;
  cents: number;
}

/** The number and the value of the orders, and the products by value. */
export function summarize(orders: readonly Order[]): { orders: number; cents: number; text: string } {
  const cents = orders.reduce((sum, order) => sum + order.cents, 0);
  const products = Map.groupBy(orders, ({ product }) => product);
  const lines = [...products]
    .map(([product, sold]) => ({ product, cents: sold.reduce((sum, order) => sum + order.cents, 0) }))
    .toSorted((a, b) => b.cents - a.cents)
    .map((line) => `${line.product}: ${euros(line.cents)}`);
  return {
    orders: orders.length,
    cents,
    text: [`${orders.length} orders, ${euros(cents)}`, ...lines].join("\n"),
  };
}

function euros(cents: number): string {
  return `${(cents / 100).toFixed(2)} EUR`;
}
