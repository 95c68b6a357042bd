import type { RestErrorDetails } from "./error.ts";

/** What an error about an answer tells about its request. */
export interface Exchange {
  method: string;
  url: string;
}

export function detailsOf(response: Response, exchange: Exchange): RestErrorDetails {
  return { status: response.status, headers: response.headers, ...exchange };
}
