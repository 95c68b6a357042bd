/**
 * Serves the OpenAPI document at `GET /openapi.json`. The contract is public, so that it needs no key. With a key, the document
 * also describes the inputs and outputs of the caller's agents and workflows.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createDocument, type DocumentOptions } from "./document.ts";
import { describeTargets, type Targets } from "./targets.ts";

/** Caches may use the document for this long before they ask again. */
const maxAgeSeconds = 300;

/** `targets` are null in a request without a key. */
export type OpenApiHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  targets: Targets | null,
) => void;

/** The public document is created at the first request. */
export function createOpenApiHandler(options: DocumentOptions): OpenApiHandler {
  let document: Serialized | null = null;
  return (request, response, targets) => {
    document ??= serialize(createDocument(options));
    const own = targets === null ? null : serialize(describeTargets(createDocument(options), targets));
    const { body, etag } = own ?? document;
    const caching = targets === null ? `public, max-age=${maxAgeSeconds}` : "private, no-cache";
    const headers = { etag, "cache-control": caching, vary: "authorization" };
    if (matches(request.headers["if-none-match"], etag)) {
      response.writeHead(304, headers).end();
      return;
    }
    response.writeHead(200, {
      ...headers,
      "content-type": "application/json",
      "content-length": body.byteLength,
    });
    response.end(request.method === "HEAD" ? undefined : body);
  };
}

interface Serialized {
  body: Buffer;
  etag: string;
}

function serialize(document: object): Serialized {
  const body = Buffer.from(JSON.stringify(document));
  const digest = createHash("sha256").update(body).digest("base64url");
  return { body, etag: `"${digest.slice(0, 22)}"` };
}

/** The weak comparison of RFC 9110, section 13.1.2. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
