/** Serializes errors of users' code without paths of the server and without stack frames of the runtime. */
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SerializedError, Violation } from "./protocol.ts";
import { SourceMaps } from "./source-maps.ts";
import { SchemaError } from "./validate.ts";

/** Thrown by `process.exit`, so that the code after the call does not run. */
export class ExitError extends Error {
  override readonly name: string = "ExitError";

  constructor(code: unknown) {
    super(`The code called process.exit(${code === undefined ? "" : String(code)})`);
  }
}

const maxNameLength = 200;
const maxMessageLength = 16 * 1024;
const maxFrameLength = 1000;
const maxStackLength = 32 * 1024;
/** Nested causes, and errors of an aggregate, in a stack. */
const maxCauses = 5;

/** The installation folder of svc. */
const ownFolder = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** Converts a thrown value of any type to text. The value is not trusted. */
export class ErrorDescriber {
  /** The prefixes of the package's paths in a stack. */
  readonly #packageMarks: string[];
  readonly #replacements: [from: string, to: string][];
  readonly #place: RegExp;
  readonly #sources: SourceMaps;

  /**
   * @param directory - the package, as it appears in the runtime's stacks
   * @param scratch - the folder that users' code may write
   */
  constructor(directory: string, scratch: string) {
    this.#sources = new SourceMaps(directory);
    // Deno prints URLs in stacks without percent-encoding.
    this.#packageMarks = [`${pathToFileURL(directory).href}/`, `file://${directory}/`, `${directory}/`];
    this.#replacements = [
      ...this.#packageMarks.map((mark): [string, string] => [mark, ""]),
      [directory, "."],
      ...both(scratch, "<scratch>"),
      [process.execPath, "<runtime>"],
      ...(ownFolder.length > 1 ? both(ownFolder, "<svc>") : []),
    ];
    this.#place = new RegExp(
      `(?:${this.#packageMarks.map(RegExp.escape).join("|")})([^\\s:)]+):(\\d+)(?::(\\d+))?`,
    );
  }

  describe(thrown: unknown): SerializedError {
    try {
      if (!isErrorLike(thrown)) {
        return {
          name: "Error",
          message: this.#clean(`Thrown: ${show(thrown)}`, maxMessageLength),
          stack: "",
        };
      }
      return {
        name: this.#clean(text(thrown.name) || "Error", maxNameLength),
        message: this.#clean(text(thrown.message), maxMessageLength),
        stack: cut(this.#stack(thrown, maxCauses), maxStackLength),
        ...(thrown instanceof SchemaError && { violations: this.violations(thrown.violations) }),
      };
    } catch {
      return { name: "Error", message: "Thrown: an unreadable value", stack: "" };
    }
  }

  /** Removes paths of the server. */
  violations(violations: readonly Violation[]): Violation[] {
    return violations.map(({ field, description }) => ({
      field: this.#replace(field),
      description: this.#replace(description),
    }));
  }

  /** Removes paths of the server and stack frames of the runtime from a log line. */
  scrub(line: string): string {
    if (!this.#replacements.some(([from]) => line.includes(from))) return line;
    const frames = line.includes("\n    at ");
    const cleaned = this.#replace(line);
    return frames ? cleaned.replaceAll(/\n +at .*(?:<svc>|node:|ext:).*/g, "") : cleaned;
  }

  /** The location in the package of an error thrown while a module loaded. */
  place(thrown: unknown): { file: string; line: number } | null {
    try {
      if (!isErrorLike(thrown)) return null;
      const { position } = thrown as { position?: { file?: unknown; line?: unknown } };
      if (typeof position?.file === "string" && typeof position.line === "number") {
        return { file: this.#clean(position.file, maxFrameLength), line: position.line };
      }
      const [, file, line, column = "1"] =
        this.#place.exec(`${text(thrown.stack)}\n${text(thrown.message)}`) ?? [];
      if (file !== undefined) {
        const path = decodeURI(file);
        return { file: path, line: this.#sources.lineOf(path, Number(line), Number(column)) };
      }
      return Array.isArray(thrown.errors) ? this.place(thrown.errors[0]) : null;
    } catch {
      return null;
    }
  }

  #stack(error: ErrorLike, causes: number): string {
    const name = text(error.name) || "Error";
    const message = text(error.message);
    const header = this.#clean(message === "" ? name : `${name}: ${message}`, maxMessageLength);
    const lines = [header, ...this.#frames(text(error.stack), message)];
    if (causes > 0) {
      if (error.cause !== undefined && error.cause !== null) {
        lines.push(`caused by ${this.#inner(error.cause, causes)}`);
      }
      if (Array.isArray(error.errors)) {
        for (const inner of error.errors.slice(0, maxCauses))
          lines.push(`including ${this.#inner(inner, causes)}`);
      }
    }
    return lines.join("\n");
  }

  #inner(thrown: unknown, causes: number): string {
    return isErrorLike(thrown)
      ? this.#stack(thrown, causes - 1)
      : this.#clean(show(thrown), maxMessageLength);
  }

  /** The stack frames in the package. */
  #frames(stack: string, message: string): string[] {
    const messageAt = message === "" ? -1 : stack.indexOf(message);
    return stack
      .slice(messageAt < 0 ? 0 : messageAt + message.length)
      .split("\n")
      .filter((line) => /^\s+at /.test(line) && this.#packageMarks.some((mark) => line.includes(mark)))
      .map((line) => this.#clean(`    ${line.trim()}`, maxFrameLength));
  }

  #clean(value: string, maxLength: number): string {
    return cut(this.#replace(value), maxLength);
  }

  #replace(value: string): string {
    let replaced = value;
    for (const [from, to] of this.#replacements) replaced = replaced.replaceAll(from, to);
    return this.#sources.apply(replaced);
  }
}

/** Replacements of a path and of its URL, with and without percent-encoding. */
function both(path: string, to: string): [string, string][] {
  return [
    [pathToFileURL(path).href, to],
    [`file://${path}`, to],
    [path, to],
  ];
}

interface ErrorLike {
  name: unknown;
  message: unknown;
  stack?: unknown;
  cause?: unknown;
  errors?: unknown;
}

/** Structural: the error may come from another realm, or be of a class of the runtime. */
function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === "object" && value !== null && "message" in value && "name" in value;
}

/** Whether the error excludes retries. Structural: there may be several copies of `FinalError`. */
export function isFinal(thrown: unknown): boolean {
  try {
    return typeof thrown === "object" && thrown !== null && (thrown as { final?: unknown }).final === true;
  } catch {
    return false;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : show(value);
}

function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) {
    try {
      return JSON.stringify(value) ?? Object.prototype.toString.call(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  }
  return String(value);
}

function cut(value: string, maxLength: number): string {
  return value.length <= maxLength ? value : `${value.slice(0, maxLength)}… (cut)`;
}
