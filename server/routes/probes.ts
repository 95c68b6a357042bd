/** Serves the probes of a process that accepts no requests. */
import { notFound, toPublicError } from "../errors.ts";
import type { Readiness } from "../services/standard/readiness.ts";
import { sendError, sendJson } from "./answer.ts";
import type { Handler } from "./dispatch.ts";
import { type MetricsOptions, metricsPath, sendMetrics } from "./metrics.ts";
import { report } from "./report.ts";

export function createProbes(
  readiness: Pick<Readiness, "check">,
  isReady: () => boolean,
  metrics: Pick<MetricsOptions, "collector" | "token">,
): Handler {
  return (request, response) => {
    const path = request.url?.split("?")[0];
    if (path === "/livez") return sendJson(response, 200, { status: "ok" });
    if (path === metricsPath) {
      sendMetrics({ ...metrics, access: null }, request, response).catch((error: unknown) =>
        sendError(response, toPublicError(error, report)),
      );
      return;
    }
    if (path !== "/readyz") {
      return sendError(
        response,
        notFound("This process is a worker: it serves /livez, /readyz and /metrics only."),
      );
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
