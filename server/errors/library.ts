/** The errors that the RPC library raises itself: before a message is decoded, it has only a code and a text. */

import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { StatusSchema } from "../../proto/google/rpc/status_pb.ts";
import { fail, invalidField, withReason } from "../errors.ts";

const unknownKey = /^cannot decode message [\w.]+ from JSON: key "?([^"]{1,200})"? is unknown/;
const wrongField = /^cannot decode field [\w.]+\.(\w+) from JSON/;
const tooLarge = /^message size .*larger than configured readMaxBytes (\d+)$/;
const undecodable = /^(?:parse binary|cannot decode |parse JSON|protocol error: )/;

/** Whether the library could not decode a message. Its code may be `internal`. */
export function isUndecodable(error: unknown): error is ConnectError {
  return error instanceof ConnectError && error.details.length === 0 && undecodable.test(error.rawMessage);
}

/** The public error for an error of the library. */
export function fromLibrary(error: ConnectError): ConnectError {
  const { code, rawMessage: text } = error;
  const unknown = unknownKey.exec(text)?.[1];
  if (unknown !== undefined) return unknownField(unknown);
  const field = wrongField.exec(text)?.[1];
  if (field !== undefined)
    return invalidField(field, "TYPE", `Cannot use ${field}: its value has another type.`);
  if (undecodable.test(text))
    return fail("INVALID_MESSAGE", `Cannot read the message: ${text.slice(0, 200)}.`);
  if (code === Code.ResourceExhausted) {
    const limit = tooLarge.exec(text)?.[1];
    return fail("BODY_TOO_LARGE", limit === undefined ? text : `The message has more than ${limit} bytes.`);
  }
  return withReason(error);
}

/** The error for a name that the method does not have. */
export function unknownField(name: string): ConnectError {
  return fail("UNKNOWN_FIELD", `Cannot read the request: the method has no field '${name.slice(0, 80)}'.`, {
    metadata: { field: name.slice(0, 80) },
  });
}

/** The value of `grpc-status-details-bin`. */
export function grpcDetails(error: ConnectError): string {
  const details = error.details.map((detail) =>
    "desc" in detail
      ? anyPack(detail.desc, create(detail.desc, detail.value))
      : {
          $typeName: "google.protobuf.Any" as const,
          typeUrl: `type.googleapis.com/${detail.type}`,
          value: detail.value,
        },
  );
  const status = create(StatusSchema, { code: error.code, message: error.rawMessage, details });
  return Buffer.from(toBinary(StatusSchema, status)).toString("base64").replace(/=+$/, "");
}
