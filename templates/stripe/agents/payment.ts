import { defineAgent } from "svc";

/** The input, from the webhook's field mapping in svc-project.yaml. */
interface Payment {
  /** The id of the event: `evt_…`. */
  event: string;
  type: string;
  object: string;
  currency: string;
  /** In the smallest unit of the currency, such as cents. */
  total: number | null;
  due: number | null;
}

/** Reports payments, and payments that failed, to a chat. */
export default defineAgent(async (payment: Payment, ctx) => {
  const text = messageOf(payment);
  console.log(text);
  const url = ctx.secrets.CHAT_WEBHOOK_URL;
  if (url === undefined) {
    ctx.log.warn("The secret CHAT_WEBHOOK_URL is not set, so no message is sent.");
    return { text, sent: false };
  }
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
    signal: ctx.signal,
  });
  // A failed attempt is retried.
  if (!response.ok) throw new Error(`The chat answered ${response.status}: ${await response.text()}`);
  return { text, sent: true };
});

export function messageOf({ type, object, currency, total, due }: Payment): string {
  const amount = formatAmount(total ?? due ?? 0, currency);
  return type === "invoice.payment_failed"
    ? `Payment of ${amount} failed (${object}).`
    : `Received ${amount} (${object}).`;
}

function formatAmount(amount: number, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(amount / 10 ** digits);
}
