/** Interceptors of all calls, besides authentication. */
import type { Interceptor, StreamResponse, UnaryResponse } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";
import { fromLibrary, isUndecodable } from "../../errors/library.ts";
import { statusHeader, toPublicError } from "../../errors.ts";

/** Maps errors to public errors; passes internal errors to `report`. */
export function publicErrors(report: (error: unknown) => void): Interceptor {
  const map = (error: unknown) => toPublicError(isUndecodable(error) ? fromLibrary(error) : error, report);
  return (next) => async (request) => {
    try {
      return await mapErrors(await next(request), map);
    } catch (error) {
      throw map(error);
    }
  };
}

/** Removes the header for the REST transcoder from RPC responses. */
export const hideStatus: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    response.header.delete(statusHeader);
    return await mapErrors(response, withoutStatus);
  } catch (error) {
    throw withoutStatus(error);
  }
};

function withoutStatus(error: unknown): unknown {
  if (error instanceof ConnectError) error.metadata.delete(statusHeader);
  return error;
}

async function mapErrors(
  response: UnaryResponse | StreamResponse,
  map: (error: unknown) => unknown,
): Promise<UnaryResponse | StreamResponse> {
  if (!response.stream) return response;
  const { message } = response;
  return {
    ...response,
    message: (async function* () {
      try {
        yield* message;
      } catch (error) {
        throw map(error);
      }
    })(),
  };
}
