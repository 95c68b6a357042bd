/** `/` and `/env/<environment>` are no paths of the API. A person who opens them in a browser wants the console. */
import type { Request, Response } from "../answer.ts";

const startPage = /^\/(?:env\/[A-Za-z0-9][A-Za-z0-9_-]{0,63})?$/;

/** @param path - without the prefix of an environment that a slash follows */
export function isStartPage(request: Request, path: string): boolean {
  const { method, headers } = request;
  return (
    (method === "GET" || method === "HEAD") &&
    startPage.test(path) &&
    headers.accept?.toLowerCase().includes("text/html") === true
  );
}

export function redirectToConsole(request: Request, response: Response): void {
  // Relative, because a proxy may put a path before it.
  const last = (request.url ?? "").split("?", 1)[0]?.split("/").at(-1) ?? "";
  const location = last === "" ? "console/" : `${last}/console/`;
  response.writeHead(302, { location, vary: "accept", "cache-control": "no-store" }).end();
}
