/** Interceptors of all calls, besides authentication. */
import type { Interceptor, StreamResponse, UnaryResponse } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";
import { fromLibrary, isUndecodable } from "../../errors/library.ts";
import { statusHeader, toPublicError } from "../../errors.ts";
import type { Report } from "../report.ts";
import { requestIdIn, withRequestId } from "../request-id.ts";

/** Maps errors to public errors; passes internal errors to `report`, and names the request. */
export function publicErrors(report: Report): Interceptor {
  return (next) => async (request) => {
    const map = (error: unknown) => {
      const id = requestIdIn(request.header);
      const known = isUndecodable(error) ? fromLibrary(error) : error;
      return withRequestId(
        toPublicError(known, (cause) => report(cause, id)),
        id,
      );
    };
    try {
      return mapErrors(await next(request), map);
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
    return mapErrors(response, withoutStatus);
  } catch (error) {
    throw withoutStatus(error);
  }
};

function withoutStatus(error: unknown): unknown {
  if (error instanceof ConnectError) error.metadata.delete(statusHeader);
  return error;
}

function mapErrors(
  response: UnaryResponse | StreamResponse,
  map: (error: unknown) => unknown,
): UnaryResponse | StreamResponse {
  if (!response.stream) return response;
  return { ...response, message: mapErrorsOf(response.message, map) };
}

/** An asynchronous generator would take several times as long for each item. */
function mapErrorsOf<T>(items: AsyncIterable<T>, map: (error: unknown) => unknown): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]();
      const rethrow = (error: unknown) => {
        throw map(error);
      };
      return {
        next: () => iterator.next().catch(rethrow),
        return: async () => {
          await iterator.return?.().catch(rethrow);
          return { done: true, value: undefined };
        },
      };
    },
  };
}
