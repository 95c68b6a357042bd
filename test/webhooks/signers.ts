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

/** The URL that schemes sign when they sign one. */
export const hookUrl = "https://hooks.example.com/webhook/org_1/agent/echo/hook?a=%3Ab";

export interface Sender {
  definition: SignatureDefinition;
  /** Where the signature is, for tests that damage it. */
  header: string;
  /** Whether a time is signed. */
  timed: boolean;
  /** Whether the URL is signed. */
  signsUrl?: true;
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
  svix: {
    definition: definitionOf("svix"),
    header: "svix-signature",
    timed: true,
    sign(secret, body, seconds) {
      const key = Buffer.from(secret.replace("whsec_", ""), "base64");
      const signature = hmac("sha256", key, `msg_1.${seconds}.`, body).toString("base64");
      return { "svix-id": "msg_1", "svix-timestamp": `${seconds}`, "svix-signature": `v1,${signature}` };
    },
  },
  meta: bodySender("meta", "x-hub-signature-256", "sha256=", "hex"),
  bitbucket: bodySender("bitbucket", "x-hub-signature", "sha256=", "hex"),
  jira: bodySender("jira", "x-hub-signature", "sha256=", "hex"),
  lemonsqueezy: bodySender("lemonsqueezy", "x-signature", "", "hex"),
  dropbox: bodySender("dropbox", "x-dropbox-signature", "", "hex"),
  typeform: bodySender("typeform", "typeform-signature", "sha256=", "base64"),
  line: bodySender("line", "x-line-signature", "", "base64"),
  zoom: {
    definition: definitionOf("zoom"),
    header: "x-zm-signature",
    timed: true,
    sign(secret, body, seconds) {
      const signature = hmac("sha256", secret, `v0:${seconds}:`, body).toString("hex");
      return { "x-zm-request-timestamp": `${seconds}`, "x-zm-signature": `v0=${signature}` };
    },
  },
  paddle: {
    definition: definitionOf("paddle"),
    header: "paddle-signature",
    timed: true,
    sign(secret, body, seconds) {
      return {
        "paddle-signature": `ts=${seconds};h1=${hmac("sha256", secret, `${seconds}:`, body).toString("hex")}`,
      };
    },
  },
  calendly: {
    definition: definitionOf("calendly"),
    header: "calendly-webhook-signature",
    timed: true,
    sign(secret, body, seconds) {
      const signature = hmac("sha256", secret, `${seconds}.`, body).toString("hex");
      return { "calendly-webhook-signature": `t=${seconds},v1=${signature}` };
    },
  },
  square: {
    definition: definitionOf("square"),
    header: "x-square-hmacsha256-signature",
    timed: false,
    signsUrl: true,
    sign(secret, body) {
      return { "x-square-hmacsha256-signature": hmac("sha256", secret, hookUrl, body).toString("base64") };
    },
  },
  trello: {
    definition: definitionOf("trello"),
    header: "x-trello-webhook",
    timed: false,
    signsUrl: true,
    sign(secret, body) {
      const signed = Buffer.concat([body, Buffer.from(hookUrl)]);
      return { "x-trello-webhook": hmac("sha1", secret, "", signed).toString("base64") };
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

/** A sender whose signature is the HMAC-SHA256 of the body. */
function bodySender(
  scheme: SignatureScheme,
  header: string,
  prefix: string,
  encoding: "hex" | "base64",
): Sender {
  return {
    definition: definitionOf(scheme),
    header,
    timed: false,
    sign: (secret, body) => ({ [header]: prefix + hmac("sha256", secret, "", body).toString(encoding) }),
  };
}

function hmac(algorithm: string, key: string | Uint8Array, before: string, body: Uint8Array): Buffer {
  return createHmac(algorithm, key)
    .update(Buffer.concat([Buffer.from(before), body]))
    .digest();
}
