import assert from "node:assert/strict";
import { test } from "node:test";
import { messageOf } from "../agents/payment.ts";

const payment = {
  event: "evt_1",
  type: "checkout.session.completed",
  object: "cs_1",
  currency: "eur",
  total: 4200,
  due: null,
};

test("reports a payment", () => {
  assert.equal(messageOf(payment), "Received €42.00 (cs_1).");
});

test("reports a failed payment, in a currency without a smaller unit", () => {
  const failed = { type: "invoice.payment_failed", object: "in_1", currency: "jpy", total: null, due: 500 };
  assert.equal(messageOf({ ...payment, ...failed }), "Payment of ¥500 failed (in_1).");
});
