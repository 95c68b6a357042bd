import { handshakeKinds, type SignatureScheme, signatureSchemes } from "../definition.ts";
import { choice, header, list, map, name, type Schema, text } from "./values.ts";

const secretName = name("Name of a secret, which `svc secrets set` stores.");
const general: readonly SignatureScheme[] = ["hmac", "ed25519"];

export const signature: Schema = map(
  "How requests are verified. See docs/webhooks/signatures.md.",
  {
    scheme: choice("The sender, or a general scheme.", signatureSchemes),
    secret: {
      description: "Name of the secret, or a list of two names while a secret is replaced.",
      anyOf: [secretName, list("One or two names.", secretName, { minItems: 1, maxItems: 2 })],
    },
    header: header("Schemes hmac, ed25519 and token: header with the signature or the token."),
    algorithm: choice("Scheme hmac: hash algorithm.", ["sha1", "sha256", "sha384", "sha512"], "sha256"),
    encoding: choice(
      "Schemes hmac and ed25519: encoding of the signature.",
      ["hex", "base64", "base64url"],
      "hex",
    ),
    prefix: {
      type: "string",
      pattern: "^[\\u0020-\\u007e]{0,64}$",
      default: "",
      description: "Schemes hmac and ed25519: text before the signature, for example sha256=.",
    },
    timestamp_header: header("Schemes hmac and ed25519: header with the time in Unix seconds."),
    content: {
      type: "string",
      maxLength: 256,
      pattern: "^[^{}]*(\\{(timestamp|url)\\}[^{}]*)*\\{body\\}[^{}]*(\\{(timestamp|url)\\}[^{}]*)*$",
      description:
        "Schemes hmac and ed25519: the signed text, with {body} once, and {timestamp} and {url}. Default: {timestamp}.{body} with a timestamp header, otherwise {body}.",
    },
    tolerance: {
      type: "integer",
      minimum: 1,
      maximum: 86_400,
      default: 300,
      description: "Schemes hmac and ed25519: seconds that the signed time may differ from the server's.",
    },
    topic: text("Scheme sns: ARN of the topic.", { pattern: "^arn:[^:]+:sns:[^:]+:[0-9]{12}:[^:]+$" }),
  },
  {
    required: ["scheme"],
    allOf: [
      when(
        ["sns"],
        { required: ["topic"], properties: { secret: false } },
        { required: ["secret"], properties: { topic: false } },
      ),
      when([...general, "token"], { required: ["header"] }, { properties: { header: false } }),
      when(["hmac"], {}, { properties: { algorithm: false } }),
      when(
        general,
        {},
        {
          properties: {
            encoding: false,
            prefix: false,
            timestamp_header: false,
            content: false,
            tolerance: false,
          },
        },
      ),
    ],
  },
);

function when(schemes: readonly SignatureScheme[], then: object, otherwise: object): object {
  return { if: { properties: { scheme: { enum: schemes } } }, then, else: otherwise };
}

const kinds = [...handshakeKinds, "none"];

export const handshake: Schema = {
  description:
    "The exchange by which the sender checks the URL. Default: that of the signature scheme. See docs/webhooks/handshakes.md.",
  anyOf: [
    choice(
      "A handshake without a secret.",
      kinds.filter((kind) => kind !== "meta"),
    ),
    map(
      "A handshake, and its secret.",
      {
        kind: choice("The sender.", kinds),
        secret: name("Handshake meta: name of the secret that holds the verify token."),
      },
      {
        required: ["kind"],
        if: { properties: { kind: { const: "meta" } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ["secret"] },
        else: { properties: { secret: false } },
      },
    ),
  ],
};
