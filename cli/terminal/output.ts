import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { lineJson, prettyJson } from "./format.ts";

/** Writes a line to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A message as REST shows it: names in snake_case, every field there. */
export async function toRestJson<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Promise<unknown> {
  const { toJson } = await import("@bufbuild/protobuf");
  return toJson(schema, message, { useProtoFieldName: true, alwaysEmitImplicit: true });
}

/** Prints a message as one JSON document. */
export async function printJson<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Promise<void> {
  print(prettyJson(await toRestJson(schema, message)));
}

/** Prints a message as one line of JSON, for what is followed. */
export async function printJsonLine<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Promise<void> {
  print(lineJson(await toRestJson(schema, message)));
}
