/** Fetches a URL of a sender: the certificate that signed a message, or the confirmation of a subscription. */

export interface Fetched {
  status: number;
  body: string;
}

/**
 * GET without redirects, within a time and a size.
 *
 * @param url - checked by the caller: HTTPS and a known host
 * @throws Error with one sentence
 */
export type FetchUrl = (url: string) => Promise<Fetched>;

const timeoutMs = 5_000;
const maxBytes = 64 * 1024;

export const fetchUrl: FetchUrl = async (url) => {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { redirect: "manual", signal, headers: { accept: "*/*" } });
  return { status: response.status, body: await readLimited(response) };
};

/** @throws Error over the limit */
async function readLimited(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the body.
    if (size > maxBytes) throw new Error(`The response must have at most ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
