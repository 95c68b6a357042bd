/** Serves the OpenAPI document at `GET /openapi.json`. The contract is public, so that it needs no key. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createDocument, type DocumentOptions } from "./document.ts";

export const openApiPath = "/openapi.json";

/** Caches may use the document for this long before they ask again. */
const maxAgeSeconds = 300;

export type OpenApiHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The document is created at the first request. */
export function createOpenApiHandler(options: DocumentOptions): OpenApiHandler {
  let document: { body: Buffer; etag: string } | null = null;
  return (request, response) => {
    document ??= serialize(options);
    const { body, etag } = document;
    const headers = { etag, "cache-control": `public, max-age=${maxAgeSeconds}` };
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

function serialize(options: DocumentOptions): { body: Buffer; etag: string } {
  const body = Buffer.from(JSON.stringify(createDocument(options)));
  const digest = createHash("sha256").update(body).digest("base64url");
  return { body, etag: `"${digest.slice(0, 22)}"` };
}

/** The weak comparison of RFC 9110, section 13.1.2. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
