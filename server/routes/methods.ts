/** Responses to HTTP methods that a path does not have. */
import { fail } from "../errors.ts";
import type { Request, Response } from "./answer.ts";

/**
 * Responds to OPTIONS with the methods of a path.
 * @param allow - the methods of the path; HEAD is added to GET
 * @throws ConnectError with the status 405 for any other method
 */
export function refuseMethod(request: Request, response: Response, allow: readonly string[]): void {
  const all = allow.includes("GET") ? [...new Set([...allow, "HEAD"])].sort() : allow;
  if (request.method === "OPTIONS") {
    response.writeHead(204, { allow: [...all, "OPTIONS"].join(", ") });
    response.end();
    return;
  }
  throw notAllowed(request, all);
}

export function notAllowed({ method }: Request, allow: readonly string[]): Error {
  return fail(
    "METHOD_NOT_ALLOWED",
    `The method ${method} is not allowed on this path; use ${allow.join(" or ")}.`,
    {
      headers: { allow: allow.join(", ") },
    },
  );
}
