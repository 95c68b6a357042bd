/** Descriptors of the served contract, looked up as server reflection does. */
import {
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

export class Descriptors {
  readonly services: readonly string[];
  readonly #files = new Map<string, DescFile>();
  readonly #symbols = new Map<string, DescFile>();
  readonly #messages = new Set<string>();
  /** By the name of the extended message and the field number. */
  readonly #extensions = new Map<string, Map<number, DescFile>>();

  constructor(services: readonly DescService[]) {
    this.services = services.map(({ typeName }) => typeName).toSorted();
    for (const { file } of services) this.#addFile(file);
  }

  file(name: string): DescFile | undefined {
    return this.#files.get(name);
  }

  /** The file that declares a service, method, message, field, oneof, enum, enum value or extension. */
  symbol(name: string): DescFile | undefined {
    return this.#symbols.get(name.replace(/^\./, ""));
  }

  extension(message: string, number: number): DescFile | undefined {
    return this.#extensions.get(message)?.get(number);
  }

  /** Undefined for an unknown message. */
  extensionNumbers(message: string): number[] | undefined {
    const numbers = this.#extensions.get(message);
    if (numbers === undefined) return this.#messages.has(message) ? [] : undefined;
    return [...numbers.keys()].toSorted((a, b) => a - b);
  }

  #addFile(file: DescFile): void {
    const name = `${file.name}.proto`;
    if (this.#files.has(name)) return;
    this.#files.set(name, file);
    for (const dependency of file.dependencies) this.#addFile(dependency);
    for (const type of nestedTypes(file)) {
      this.#symbols.set(type.typeName, file);
      if (type.kind === "message") this.#addMessage(type);
      else if (type.kind === "service") {
        for (const method of type.methods) this.#symbols.set(`${type.typeName}.${method.name}`, file);
      } else if (type.kind === "enum") {
        const scope = type.typeName.split(".").slice(0, -1);
        for (const value of type.values) this.#symbols.set([...scope, value.name].join("."), file);
      } else this.#addExtension(type);
    }
  }

  #addMessage({ typeName, file, fields, oneofs }: DescMessage): void {
    this.#messages.add(typeName);
    for (const { name } of [...fields, ...oneofs]) this.#symbols.set(`${typeName}.${name}`, file);
  }

  #addExtension({ extendee, number, file }: DescExtension): void {
    const numbers = this.#extensions.get(extendee.typeName) ?? new Map<number, DescFile>();
    this.#extensions.set(extendee.typeName, numbers.set(number, file));
  }
}

/** A file and its dependencies that were not sent before, as FileDescriptorProto messages; the file comes first. */
export function serialize(file: DescFile, sent: Set<string>): Uint8Array[] {
  const found = new Set([file]);
  for (const one of found) for (const dependency of one.dependencies) found.add(dependency);
  const wanted = [...found].filter((one) => one === file || !sent.has(one.name));
  for (const { name } of wanted) sent.add(name);
  return wanted.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
}
