import { handshake, signature } from "./signature.ts";
import { choice, flag, header, list, map, mapOf, name, number, type Schema, text } from "./values.ts";

const maxEntries = 100;
const entries = { minItems: 1, maxItems: maxEntries };

const scalar: Schema = {
  description: "Text, a number, true, false or null.",
  anyOf: [{ type: ["number", "boolean", "null"] }, { type: "string", maxLength: 256 }],
};
const scalars: Schema = {
  description: "A value, or a list of values.",
  anyOf: [scalar, list("Values.", scalar, entries)],
};

const fieldMapping = mapOf(
  "Path in the payload, or another source such as $header.x-id: name of the parameter. The input has only these parameters. Without a mapping, the payload is the input. See docs/webhooks/mapping.md.",
  {
    description: "The parameter, or a map of the parameter and its default.",
    anyOf: [
      text("Name of the parameter."),
      map(
        "A parameter with a default.",
        {
          parameter: text("Name of the parameter."),
          default: { description: "The value when the payload has none." },
        },
        { required: ["parameter"] },
      ),
    ],
  },
);

const respond: Schema = {
  description:
    "The response to an accepted request: 202 with the id of the execution, 200 without a body, or output, the response or output of the execution. See docs/webhooks/responses.md.",
  default: 202,
  anyOf: [
    { enum: [200, 202, "output"] },
    map(
      "The response or output of the execution.",
      {
        kind: choice("The response is the output.", ["output"]),
        timeout: number("Seconds to wait for it.", { minimum: 0.1, maximum: 60, default: 10 }),
        late: choice("The status after this time.", [200, 202], 202),
      },
      { required: ["kind"] },
    ),
  ],
};

const idempotency = map(
  "How repeated requests are recognized. See docs/webhooks/idempotency.md.",
  {
    header: header("Header with the sender's delivery id. Default: that of the signature scheme."),
    after_failure: choice(
      "A repeat of a request whose execution failed: run runs it again, replay returns the first result.",
      ["run", "replay"],
      "run",
    ),
  },
  { anyOf: [{ required: ["header"] }, { required: ["after_failure"] }] },
);

const rateLimit = map(
  "The limit of requests, per process of the server. Default: that of the server.",
  {
    requests_per_second: number("Requests per second.", { exclusiveMinimum: 0, maximum: 1_000_000 }),
    burst: {
      type: "integer",
      minimum: 1,
      maximum: 1_000_000,
      description: "Requests that may come at once. Default: twice the rate.",
    },
  },
  { required: ["requests_per_second"] },
);

const source = text("Path in the payload, or another source such as $header.x-event.");

const condition: Schema = {
  description: "A value, a list of values, or a map of exists and not.",
  anyOf: [
    scalar,
    list("Values.", scalar, entries),
    map(
      "A condition.",
      { exists: { type: "boolean", description: "Whether the value exists." }, not: scalars },
      { anyOf: [{ required: ["exists"] }, { required: ["not"] }] },
    ),
  ],
};

/** An element of `webhooks`. */
export const webhook: Schema = map(
  "A webhook: a URL at which a request starts an execution.",
  {
    slug: name("Last part of the URL, unique within the agent or workflow."),
    field_mapping: fieldMapping,
    signature,
    idempotency,
    rate_limit: rateLimit,
    handshake,
    respond,
    raw: flag("Whether the input is { headers, query, body }, with any content type.", false),
    files: choice(
      "Files in multipart/form-data: keep them in the input, or refuse the request.",
      ["keep", "refuse"],
      "keep",
    ),
    allow_from: list(
      "IP addresses and CIDR ranges that requests may come from. Default: any.",
      text("An address or a range.", { pattern: "^[0-9A-Fa-f.:]*[.:][0-9A-Fa-f.:]*(/[0-9]{1,3})?$" }),
      { minItems: 1 },
    ),
    methods: list("HTTP methods. Default: POST.", choice("A method.", ["GET", "POST"]), {
      minItems: 1,
      uniqueItems: true,
    }),
    keep_rejected: flag(
      "Whether requests with an invalid signature are kept for `svc webhook redeliver`.",
      false,
    ),
    events: list(
      "Names of events that start an execution, for example issues.opened or issues.*. Other requests are ignored. See docs/webhooks/filters.md.",
      text("A name, in which * is a whole part.", {
        pattern: "^(?=[^]*\\S)(\\*|[^*./:\\u0000-\\u001f]*)([./:](\\*|[^*./:\\u0000-\\u001f]*))*$",
      }),
      entries,
    ),
    event: {
      description: "Where the name of the event is. Default: that of the signature scheme.",
      anyOf: [source, list("Up to three sources, joined by dots.", source, { minItems: 1, maxItems: 3 })],
    },
    when: {
      type: "object",
      minProperties: 1,
      maxProperties: maxEntries,
      additionalProperties: condition,
      description: "Conditions by path. Requests that violate one are ignored. See docs/webhooks/filters.md.",
    },
  },
  { required: ["slug"], dependencies: { keep_rejected: ["signature"], event: ["events"] } },
);
