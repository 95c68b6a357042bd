/** Serialization options, the same for all protocols. */
import type { BinaryReadOptions, JsonReadOptions, JsonWriteOptions } from "@bufbuild/protobuf";
import type { ConnectRouterOptions } from "@connectrpc/connect";
import type { Limits } from "../config/limits.ts";

/** Options of the router of the RPC protocols. */
export type RouterOptions = Pick<
  ConnectRouterOptions,
  "interceptors" | "readMaxBytes" | "shutdownSignal" | "jsonOptions" | "binaryOptions"
>;

/** JSON with snake_case names and with empty lists and strings. */
export const jsonWriteOptions: Partial<JsonWriteOptions> = {
  useProtoFieldName: true,
  alwaysEmitImplicit: true,
};

/**
 * A level of JSON takes three levels of messages (value, struct, entry), so that an allowed payload may exceed the
 * library's default limit of 100. The enclosing messages need some levels more.
 */
function recursionLimit(limits: Pick<Limits, "jsonDepth">): number {
  return 3 * limits.jsonDepth + 32;
}

export function wireOptions(limits: Pick<Limits, "jsonDepth">): {
  jsonOptions: Partial<JsonReadOptions & JsonWriteOptions>;
  binaryOptions: Partial<BinaryReadOptions>;
} {
  return {
    jsonOptions: { ...jsonWriteOptions, ignoreUnknownFields: false, recursionLimit: recursionLimit(limits) },
    binaryOptions: { recursionLimit: recursionLimit(limits) },
  };
}

/**
 * The largest message, so that every payload within the limit for JSON fits: a digit in a list takes 2 bytes of JSON and 11
 * of Protobuf.
 */
export function maxMessageBytes({ webhookBytes }: Pick<Limits, "webhookBytes">): number {
  return Math.min(webhookBytes * 6, 0xffff_ffff);
}
