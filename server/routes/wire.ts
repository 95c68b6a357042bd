/** How messages are written and read, the same on every way in. */
import type { BinaryReadOptions, JsonReadOptions, JsonWriteOptions } from "@bufbuild/protobuf";
import type { Limits } from "../config.ts";

/** As JSON: snake_case, with empty lists and strings shown. */
export const jsonWriteOptions: Partial<JsonWriteOptions> = {
  useProtoFieldName: true,
  alwaysEmitImplicit: true,
};

/**
 * A level of JSON costs three of messages (value, struct, entry), so that a payload of the allowed depth is over the
 * library's own limit of 100; some levels more are the messages around it.
 */
function recursionLimit(limits: Limits): number {
  return 3 * limits.jsonDepth + 32;
}

export function wireOptions(limits: Limits): {
  jsonOptions: Partial<JsonReadOptions & JsonWriteOptions>;
  binaryOptions: Partial<BinaryReadOptions>;
} {
  return {
    jsonOptions: { ...jsonWriteOptions, ignoreUnknownFields: false, recursionLimit: recursionLimit(limits) },
    binaryOptions: { recursionLimit: recursionLimit(limits) },
  };
}
