import { Connection } from "../limit/connection.ts";
import type { RequestTemplate } from "../limit/request.ts";

/** Sends a number of requests over 64 connections. @throws Error unless each response is a 202 */
export function sendAll(template: RequestTemplate, url: URL, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let answered = 0;
    const connections: Connection[] = [];
    const end = (error: Error | null): void => {
      for (const connection of connections) connection.close();
      if (error === null) resolve();
      else reject(error);
    };
    for (let n = 0; n < Math.min(64, count); n++) {
      const copy = template.copy();
      const next = (): void => {
        if (sent < count) connection.send(template.number(copy, sent++));
      };
      const connection = new Connection(url.hostname, Number(url.port), {
        responded(status) {
          if (status !== 202) end(new Error(`A webhook was answered with ${status}.`));
          else if (++answered === count) end(null);
          else next();
        },
        lost: () => end(new Error("A connection was closed.")),
      });
      connections.push(connection);
      next();
    }
  });
}
