/** The parts of protobuf that print messages. Imported lazily: the help of a command loads nothing of protobuf. */
export { toJson } from "@bufbuild/protobuf";
export { ValueSchema } from "@bufbuild/protobuf/wkt";
