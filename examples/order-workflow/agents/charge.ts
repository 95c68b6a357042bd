import { defineAgent, FinalError } from "svc";

interface Charge {
  order: string;
  cents: number;
  card: string;
}

/** Charges a card. Without the secret PAYMENT_URL it approves everything. */
export default defineAgent(async ({ order, cents, card }: Charge, ctx) => {
  const url = ctx.secrets.PAYMENT_URL;
  if (url === undefined) return { payment: "test", cents };
  const response = await fetch(`${url}/charges`, {
    method: "POST",
    // The same key in every attempt: the payment service charges once.
    headers: { "content-type": "application/json", "idempotency-key": `charge-${order}` },
    body: JSON.stringify({ cents, card }),
    signal: ctx.signal,
  });
  if (response.status === 402) throw new FinalError("The card was declined.");
  if (!response.ok) throw new Error(`The payment service answered HTTP ${response.status}.`);
  const { id } = (await response.json()) as { id: string };
  return { payment: id, cents };
});
