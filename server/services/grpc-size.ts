/**
 * Keeps messages readable for gRPC clients, which refuse messages over 4 MiB by default. A JSON value of 4 MiB takes up to
 * six times as much as a protobuf message: a one-digit number in a list is 2 bytes of JSON and 11 of protobuf. A lower limit
 * of outputs would be arbitrary for the other protocols, which have no such limit. So a value that does not fit is left out
 * over gRPC and gRPC-Web, the message says so, and DownloadExecution streams it.
 */
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";

/** 4 MiB, with room for enclosing messages. */
export const maxMessageBytes: number = 4 * 1024 * 1024 - 16 * 1024;
/** The largest ratio of the sizes of a JSON value as protobuf and as text. */
const maxGrowth = 6;

/**
 * Leaves out the values in this order until the message fits.
 * @param textLength - length of all values of the message as JSON text: the size of short messages is not measured
 */
export function fitMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  textLength: number,
  omissions: readonly ((message: MessageShape<Desc>) => void)[],
): MessageShape<Desc> {
  if (textLength * maxGrowth < maxMessageBytes) return message;
  for (const omit of omissions) {
    if (toBinary(schema, message).byteLength <= maxMessageBytes) break;
    omit(message);
  }
  return message;
}

/** Whether the protocol of a call has the limit. Calls of REST have the name `local`. */
export function hasMessageLimit({ protocolName }: { protocolName: string }): boolean {
  return protocolName === "grpc" || protocolName === "grpc-web";
}
