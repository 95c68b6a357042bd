/**
 * Query parameters and path variables, which are fields of the request message: a name is a path of fields, in either
 * spelling of each. The values become JSON, whose rules decide what they may be.
 */
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonReadOptions,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { fail, invalid, invalidField } from "../../errors.ts";
import { decodeRequest } from "./decode.ts";
import type { Rule } from "./http-rule.ts";

const maxDepth = 16;
/** Messages whose JSON is a string or a number. */
const textMessages = new Set(
  ["Timestamp", "Duration", "FieldMask", "Value"].map((name) => `google.protobuf.${name}`),
);
const wrapper = /^google\.protobuf\.(?:Double|Float|U?Int32|U?Int64|Bool|String|Bytes)Value$/;

/**
 * @param bound - the fields of the path and the body, which parameters must not set
 * @throws ConnectError `invalid_argument` for an unknown, bound, repeated or malformed parameter
 */
export function addQuery(
  json: JsonObject,
  rule: Rule,
  query: URLSearchParams,
  bound: ReadonlySet<string>,
  options: Partial<JsonReadOptions>,
): void {
  for (const name of new Set(query.keys())) {
    const fields = resolve(rule.method.input, name.split("."));
    const path = fields?.map((field) => field.name) ?? [];
    if (fields === null || path.some((_name, depth) => bound.has(path.slice(0, depth + 1).join(".")))) {
      const advice = fields !== null && rule.body === "*" ? "; send it in the body" : "";
      throw fail(
        "UNKNOWN_FIELD",
        `Cannot use the query parameter '${shorten(name)}': the method has no such parameter${advice}.`,
        { metadata: { field: shorten(name) } },
      );
    }
    const values = query.getAll(name);
    const field = fields.at(-1);
    if (field === undefined) continue;
    const holder = holderOf(json, fields.slice(0, -1));
    if (holder[field.name] !== undefined || (values.length > 1 && field.fieldKind !== "list")) {
      throw invalid(`Cannot use the query parameter '${shorten(name)}': it must be given only once.`);
    }
    const value = values.map((text) => fieldValue(field, text, name));
    holder[field.name] = field.fieldKind === "list" ? value : (value[0] ?? "");
    if (fields.length > 1) checkNested(field, holder, name, options);
  }
}

/** Sets the field of a path variable. The path takes precedence over the body. */
export function setVariable(json: JsonObject, message: DescMessage, name: string, text: string): void {
  const fields = resolve(message, name.split("."));
  const field = fields?.at(-1);
  if (fields === null || field === undefined) return;
  const holder = holderOf(json, fields.slice(0, -1));
  delete holder[field.jsonName];
  holder[field.name] = fieldValue(field, text, name);
}

function resolve(message: DescMessage, path: readonly string[]): DescField[] | null {
  const [name, ...rest] = path;
  const field = message.fields.find((one) => one.name === name || one.jsonName === name);
  if (field === undefined || path.length > maxDepth) return null;
  if (rest.length === 0) return [field];
  if (field.fieldKind !== "message" || isText(field.message)) return null;
  const inner = resolve(field.message, rest);
  return inner === null ? null : [field, ...inner];
}

/** The object that holds a nested field, in the spelling that the body has. */
function holderOf(json: JsonObject, fields: readonly DescField[]): JsonObject {
  let holder = json;
  for (const { name, jsonName } of fields) {
    const key = holder[jsonName] === undefined ? name : jsonName;
    const value = holder[key];
    const inner = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
    holder[key] = inner;
    holder = inner;
  }
  return holder;
}

function fieldValue(field: DescField, text: string, name: string): JsonValue {
  const { scalar, message } = field;
  if (field.fieldKind === "enum" || (field.fieldKind === "list" && field.listKind === "enum")) {
    return enumValue(field.enum, text);
  }
  if (field.fieldKind === "map" || (message !== undefined && !isText(message))) {
    throw invalid(
      `Cannot use the query parameter '${shorten(name)}': it must name a field of ${field.name} that is no message.`,
    );
  }
  if (scalar === ScalarType.BOOL || message?.typeName === "google.protobuf.BoolValue") {
    if (text === "true" || text === "false") return text === "true";
    throw invalidField(
      shorten(name),
      "TYPE",
      `Cannot use ${shorten(name)}: it must be true or false, not '${shorten(text)}'.`,
    );
  }
  // JSON has the names of fields in lower camel case.
  if (message?.typeName === "google.protobuf.FieldMask") {
    return text.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  }
  return text;
}

/** The name or number of an enum value. */
function enumValue({ values }: DescEnum, text: string): JsonValue {
  return /^-?\d{1,10}$/.test(text) && !values.some(({ name }) => name === text) ? Number(text) : text;
}

function isText({ typeName }: DescMessage): boolean {
  return textMessages.has(typeName) || wrapper.test(typeName);
}

/** @throws ConnectError `invalid_argument` that names the parameter, and not only its outermost message */
function checkNested(
  field: DescField,
  holder: JsonObject,
  name: string,
  options: Partial<JsonReadOptions>,
): void {
  try {
    decodeRequest(field.parent, { [field.name]: holder[field.name] ?? null }, options);
  } catch (error) {
    const reason = error instanceof Error && "rawMessage" in error ? String(error.rawMessage) : "";
    throw invalid(reason.replace(`Cannot use ${field.name}:`, `Cannot use ${shorten(name)}:`));
  }
}

const shorten = (text: string): string => text.slice(0, 80);
