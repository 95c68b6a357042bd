/** Serves the probes of a process that accepts no requests. */
import { notFound } from "../errors.ts";
import type { Readiness } from "../services/standard/readiness.ts";
import { sendError, sendJson } from "./answer.ts";
import type { Handler } from "./dispatch.ts";

export function createProbes(readiness: Pick<Readiness, "check">, isReady: () => boolean): Handler {
  return (request, response) => {
    const path = request.url?.split("?")[0];
    if (path === "/livez") return sendJson(response, 200, { status: "ok" });
    if (path !== "/readyz") {
      return sendError(response, notFound("This process is a worker: it serves /livez and /readyz only."));
    }
    void readiness
      .check()
      .catch(() => false)
      .then((checked) => {
        const ok = checked && isReady();
        sendJson(response, ok ? 200 : 503, { status: ok ? "ok" : "unavailable" });
      });
  };
}
