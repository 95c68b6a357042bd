import { defineAgent, FinalError } from "svc";

interface Event {
  event: string;
  type: string;
  live: boolean;
  object: string;
  customer: string | null;
  amount: number | null;
  currency: string | null;
}

const titles: Readonly<Record<string, string>> = {
  "invoice.payment_failed": "Payment failed",
  "charge.dispute.created": "New dispute",
  "customer.subscription.deleted": "Subscription cancelled",
};

/** Posts an event of Stripe to a chat: Slack, Mattermost and Discord (with `/slack` after its URL) take this format. */
export default defineAgent(async (event: Event, ctx) => {
  const text = textOf(event);
  const url = ctx.secrets.CHAT_URL;
  if (url === undefined) {
    ctx.log.warn("The secret CHAT_URL is not set, so nothing is posted.");
    return { text, posted: false };
  }
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
    signal: ctx.signal,
  });
  await response.body?.cancel();
  if (response.ok) return { text, posted: true };
  const message = `The chat answered HTTP ${response.status}.`;
  // 429 and 5xx are temporary. The service retries the attempt after a growing delay.
  if (response.status === 429 || response.status >= 500) throw new Error(message);
  throw new FinalError(message);
});

function textOf({ type, live, object, customer, amount, currency }: Event): string {
  const parts = [`*${titles[type] ?? type}*`, object];
  if (customer !== null) parts.push(`customer ${customer}`);
  if (amount !== null) parts.push(`${(amount / 100).toFixed(2)} ${(currency ?? "").toUpperCase()}`);
  return `${live ? "" : "[test] "}${parts.join(" · ")}`;
}
