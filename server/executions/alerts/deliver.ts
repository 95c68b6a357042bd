/**
 * Sends an alert to the webhook of `on_failure`, signed as Standard Webhooks 1.0.0.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac } from "node:crypto";
import type { FailureHook, RetryPolicy } from "../../../project/definition.ts";
import type { RunningExecution } from "../../store/tables/leases.ts";
import type { Outcome } from "../pool/contract.ts";
import { AddressRefused, type Post } from "./post.ts";

/** For about an hour on average, and at most 2 h 13 min. */
export const alertRetries: RetryPolicy = {
  maxRetries: 12,
  strategy: "exponential",
  initialDelaySeconds: 5,
  maxDelaySeconds: 1_800,
};

/**
 * A status of 2xx is a success. 410 ends the delivery, as the specification asks; other statuses and errors are retried.
 *
 * @param hook - undefined when the deployment has no webhook for failures
 * @param secrets - of the organization, by name
 */
export async function deliverAlert(
  row: Pick<RunningExecution, "execution_id" | "input">,
  hook: FailureHook | undefined,
  secrets: Readonly<Record<string, string>>,
  post: Post,
): Promise<Outcome> {
  if (hook === undefined || !("url" in hook)) {
    return failed("The deployment has no webhook for failures.", true);
  }
  const secret = Object.hasOwn(secrets, hook.secret) ? secrets[hook.secret] : undefined;
  if (secret === undefined) return failed(`The secret ${hook.secret} of on_failure is not set.`);
  const key = keyOf(secret);
  if (key === null) {
    return failed(`The secret ${hook.secret} of on_failure must be whsec_ and 24 to 64 bytes in base64.`);
  }
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = `${row.execution_id}.${timestamp}.${row.input}`;
  try {
    const status = await post(new URL(hook.url), row.input, {
      "content-type": "application/json",
      "webhook-id": row.execution_id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
    });
    if (status >= 200 && status < 300) return { type: "succeeded", output: JSON.stringify({ status }) };
    return failed(`The webhook of on_failure answered ${status}.`, status === 410);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failed(`The webhook of on_failure cannot be reached: ${reason}`, error instanceof AddressRefused);
  }
}

function keyOf(secret: string): Buffer | null {
  const text = secret.replace(/^whsec_/, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const key = Buffer.from(text, "base64");
  return key.length >= 24 && key.length <= 64 ? key : null;
}

function failed(message: string, final = false): Outcome {
  return { type: "failed", error: { name: "AlertError", message, stack: "" }, final, reason: "thrown" };
}
