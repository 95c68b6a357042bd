import type { Value } from "@bufbuild/protobuf/wkt";

/** `google.protobuf.Value` as JSON. */
export function toJson(value: Value | undefined): unknown {
  if (value === undefined) return null;
  switch (value.kind.case) {
    case undefined:
    case "nullValue":
      return null;
    case "structValue":
      return Object.fromEntries(
        Object.entries(value.kind.value.fields).map(([name, one]) => [name, toJson(one)]),
      );
    case "listValue":
      return value.kind.value.values.map(toJson);
    default:
      return value.kind.value;
  }
}
