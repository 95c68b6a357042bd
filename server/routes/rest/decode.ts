/** Decodes a JSON request into its message; errors name the field and the rule. */
import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonReadOptions,
  type MessageShape,
} from "@bufbuild/protobuf";
import { unknownField } from "../../errors/library.ts";
import { fail, invalidField } from "../../errors.ts";

const wellKnown: Record<string, string> = {
  "google.protobuf.Struct": "a JSON object",
  "google.protobuf.Timestamp": "an RFC 3339 time, for example 2026-01-31T12:00:00Z",
};

/** @throws ConnectError `invalid_argument` */
export function decodeRequest<Desc extends DescMessage>(
  desc: Desc,
  json: JsonObject,
  options: Partial<JsonReadOptions>,
): MessageShape<Desc> {
  try {
    return fromJson(desc, json, options);
  } catch (error) {
    const rejected = desc.fields.find((field) => !decodes(desc, field, json, options));
    if (rejected !== undefined) {
      const value = JSON.stringify(json[rejected.name] ?? json[rejected.jsonName]);
      throw invalidField(
        rejected.name,
        "TYPE",
        `Cannot use ${rejected.name}: it must be ${ruleOf(rejected)}, not ${value.slice(0, 80)}.`,
      );
    }
    const unknown = /key "?([^"]+)"? is unknown/.exec(error instanceof Error ? error.message : "")?.[1];
    if (unknown !== undefined) throw unknownField(unknown);
    throw fail(
      "INVALID_MESSAGE",
      "Cannot read the request: it does not match the request message of the method.",
    );
  }
}

function decodes(
  desc: DescMessage,
  field: DescField,
  json: JsonObject,
  options: Partial<JsonReadOptions>,
): boolean {
  for (const name of [field.name, field.jsonName]) {
    if (json[name] === undefined) continue;
    try {
      fromJson(desc, { [name]: json[name] }, options);
    } catch {
      return false;
    }
  }
  return true;
}

function ruleOf(field: DescField): string {
  if (field.message !== undefined && field.fieldKind === "message") {
    return wellKnown[field.message.typeName] ?? "a JSON object";
  }
  if (field.fieldKind === "list") return "a list";
  if (field.fieldKind === "map") return "a JSON object of strings";
  const scalars: Record<number, string> = {
    1: "a number",
    8: "true or false",
    9: "a string",
    3: "a whole number",
    5: "a whole number from -2147483648 to 2147483647",
    13: "a whole number from 0 to 4294967295",
  };
  return scalars[field.scalar ?? 9] ?? "of the type of the field";
}
