/** A port of its own for the metrics (`SVC_METRICS_PORT`), without a key: the operator decides who reaches it. */
import { once } from "node:events";
import { createServer } from "node:http";
import { StartError } from "../errors.ts";
import { contentType, type MetricsCollector } from "./collect.ts";

export interface MetricsPort {
  url: string;
  close(): Promise<void>;
}

/** @throws StartError when the port cannot be used */
export async function openMetricsPort(
  collector: Pick<MetricsCollector, "text">,
  port: number,
  host: string,
): Promise<MetricsPort> {
  const server = createServer((request, response) => {
    const isScrape = request.url?.split("?")[0] === "/metrics" && /^(?:GET|HEAD)$/.test(request.method ?? "");
    if (!isScrape) {
      response.writeHead(404, { "content-type": "text/plain" }).end("This port serves GET /metrics.\n");
      return;
    }
    collector.text().then(
      (text) => response.writeHead(200, { "content-type": contentType }).end(text),
      () => response.writeHead(503).end(),
    );
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice =
      "Choose another address with SVC_METRICS_HOST and SVC_METRICS_PORT; port 0 picks a free one.";
    throw new StartError(`Cannot listen on ${host}:${port} for metrics: ${reason}.`, advice, error);
  }
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
