/**
 * Glossary: a *transport* sends one request and returns its answer as it is, redirects and error statuses too. There
 * are two: the runtime's `fetch`, and connections that the plugin opens itself through `node:http`, for what `fetch`
 * cannot do: connect to an address that was checked, and send a file of known length in bounded memory (measured on
 * 1 GiB: Node's `fetch` grows by 1 GiB, Deno's sends no length).
 */
import { isUnsafe } from "./method.ts";
import type { FetchExtras } from "./options.ts";

/**
 * A body that is read piece by piece, anew for each redirect; a piece is to be used before the next is asked for. A
 * class, because ofetch makes JSON of plain objects.
 */
export class StreamBody {
  readonly sizeBytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;

  constructor(sizeBytes: number, open: () => AsyncIterable<Uint8Array>) {
    this.sizeBytes = sizeBytes;
    this.open = open;
  }
}

export interface TransportRequest extends Omit<FetchExtras, "headers"> {
  method: string;
  headers: Headers;
  body?: string | StreamBody | null | undefined;
  /** Redirects are followed hop by hop, so that each can be judged. */
  redirect: "manual";
  signal: AbortSignal;
}

export type Transport = (url: string, request: TransportRequest) => Promise<Response>;

/** Sends through the runtime's `fetch`, which is looked up each time, so that a replaced one is used. */
export const fetchTransport: Transport = (url, request) => {
  // `fetch` knows nothing of the other options of ofetch and leaves them alone.
  const init = request as RequestInit;
  return globalThis.fetch(url, repeatsPosts && isUnsafe(request.method) ? unrepeatable(init) : init);
};

/** Deno (2.9) sends a request again when a kept connection breaks, whatever its method, unless its body is a Blob. */
const repeatsPosts: boolean = "Deno" in globalThis;

function unrepeatable(init: RequestInit): RequestInit {
  return { ...init, body: new Blob([(init.body as string | null | undefined) ?? ""]) };
}
