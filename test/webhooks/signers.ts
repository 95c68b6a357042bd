/** Signs requests as the senders do, implemented independently of the server. */
import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition, SignatureScheme } from "../../project/definition.ts";

export function definitionOf(
  scheme: SignatureScheme,
  more: Partial<SignatureDefinition> = {},
): SignatureDefinition {
  return {
    scheme,
    secrets: ["SECRET"],
    header: null,
    algorithm: "sha256",
    encoding: "hex",
    prefix: "",
    timestampHeader: null,
    ...more,
  };
}

export interface Sender {
  definition: SignatureDefinition;
  /** Where the signature is, for tests that damage it. */
  header: string;
  /** Whether a time is signed. */
  timed: boolean;
  sign(secret: string, body: Uint8Array, seconds: number): IncomingHttpHeaders;
}

export const senders: Record<string, Sender> = {
  standard: {
    definition: definitionOf("standard"),
    header: "webhook-signature",
    timed: true,
    sign(secret, body, seconds) {
      const key = Buffer.from(secret.replace("whsec_", ""), "base64");
      const signature = hmac("sha256", key, `msg_1.${seconds}.`, body).toString("base64");
      return {
        "webhook-id": "msg_1",
        "webhook-timestamp": `${seconds}`,
        "webhook-signature": `v1,${signature}`,
      };
    },
  },
  github: {
    definition: definitionOf("github"),
    header: "x-hub-signature-256",
    timed: false,
    sign(secret, body) {
      return { "x-hub-signature-256": `sha256=${hmac("sha256", secret, "", body).toString("hex")}` };
    },
  },
  stripe: {
    definition: definitionOf("stripe"),
    header: "stripe-signature",
    timed: true,
    sign(secret, body, seconds) {
      const signature = hmac("sha256", secret, `${seconds}.`, body).toString("hex");
      return { "stripe-signature": `t=${seconds},v1=${signature},v0=${"0".repeat(64)}` };
    },
  },
  slack: {
    definition: definitionOf("slack"),
    header: "x-slack-signature",
    timed: true,
    sign(secret, body, seconds) {
      const signature = hmac("sha256", secret, `v0:${seconds}:`, body).toString("hex");
      return { "x-slack-request-timestamp": `${seconds}`, "x-slack-signature": `v0=${signature}` };
    },
  },
  shopify: {
    definition: definitionOf("shopify"),
    header: "x-shopify-hmac-sha256",
    timed: false,
    sign(secret, body) {
      return { "x-shopify-hmac-sha256": hmac("sha256", secret, "", body).toString("base64") };
    },
  },
  hmac: {
    definition: definitionOf("hmac", {
      header: "x-sum",
      algorithm: "sha1",
      encoding: "base64",
      prefix: "sum:",
    }),
    header: "x-sum",
    timed: false,
    sign(secret, body) {
      return { "x-sum": `sum:${hmac("sha1", secret, "", body).toString("base64")}` };
    },
  },
  "hmac with a time": {
    definition: definitionOf("hmac", { header: "x-sum", encoding: "base64url", timestampHeader: "x-time" }),
    header: "x-sum",
    timed: true,
    sign(secret, body, seconds) {
      const signature = hmac("sha256", secret, `${seconds}.`, body).toString("base64url");
      return { "x-time": `${seconds}`, "x-sum": signature };
    },
  },
};

function hmac(algorithm: string, key: string | Uint8Array, before: string, body: Uint8Array): Buffer {
  return createHmac(algorithm, key)
    .update(Buffer.concat([Buffer.from(before), body]))
    .digest();
}
