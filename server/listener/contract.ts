/** What the listeners with and without TLS share. */
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

export interface Listener {
  /**
   * Resolves to the port.
   * @throws StartError when the port cannot be used
   */
  listen(port: number, host: string): Promise<number>;
  /** Open connections. */
  readonly connections: number;
  /** Stops accepting and closes idle connections; resolves when all requests have been answered. */
  drain(): Promise<void>;
  /** Closes all connections. */
  close(): void;
}

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;
