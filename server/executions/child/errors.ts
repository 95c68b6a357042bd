/** What users' code threw, as text that may leave the server: no path of the server, no frame of the runtime. */
import { pathToFileURL } from "node:url";
import type { ErrorMessage } from "./protocol.ts";

/** Thrown by `process.exit`, so that the code after it does not go on. */
export class ExitError extends Error {
  override readonly name: string = "ExitError";

  constructor(code: unknown) {
    super(`The code called process.exit(${code === undefined ? "" : String(code)})`);
  }
}

const maxMessageLength = 16 * 1024;
const maxStackLength = 32 * 1024;
const maxCauses = 5;

/** Turns what was thrown, which may be anything and may lie about itself, into text. */
export class ErrorDescriber {
  readonly #replacements: [string, string][];
  readonly #packageMarks: string[];

  /**
   * @param directory - the package
   * @param scratch - the folder that users' code may write
   */
  constructor(directory: string, scratch: string) {
    this.#packageMarks = [`${pathToFileURL(directory).href}/`, `${directory}/`];
    this.#replacements = [
      ...this.#packageMarks.map((mark): [string, string] => [mark, ""]),
      [directory, "."],
      [pathToFileURL(scratch).href, "<scratch>"],
      [scratch, "<scratch>"],
    ];
  }

  describe(thrown: unknown): ErrorMessage {
    try {
      if (!isErrorLike(thrown)) {
        return {
          name: "Error",
          message: this.#clean(`Thrown: ${show(thrown)}`, maxMessageLength),
          stack: "",
        };
      }
      return {
        name: this.#clean(text(thrown.name) || "Error", 200),
        message: this.#clean(text(thrown.message), maxMessageLength),
        stack: cut(this.#stack(thrown, maxCauses), maxStackLength),
      };
    } catch {
      return { name: "Error", message: "Thrown: a value that cannot be read", stack: "" };
    }
  }

  #stack(error: ErrorLike, causes: number): string {
    const name = text(error.name) || "Error";
    const message = text(error.message);
    const header = this.#clean(message === "" ? name : `${name}: ${message}`, maxMessageLength);
    const lines = [header, ...this.#frames(text(error.stack), message)];
    if (causes > 0 && error.cause !== undefined && error.cause !== null) {
      lines.push(`caused by ${this.#inner(error.cause, causes)}`);
    }
    if (causes > 0 && Array.isArray(error.errors)) {
      for (const inner of error.errors.slice(0, 5)) lines.push(`one of ${this.#inner(inner, causes)}`);
    }
    return lines.join("\n");
  }

  #inner(thrown: unknown, causes: number): string {
    return isErrorLike(thrown)
      ? this.#stack(thrown, causes - 1)
      : this.#clean(show(thrown), maxMessageLength);
  }

  /** The lines of a stack that are about the package. */
  #frames(stack: string, message: string): string[] {
    const start = message === "" ? 0 : Math.max(0, stack.indexOf(message) + message.length);
    return stack
      .slice(start)
      .split("\n")
      .filter((line) => /^\s+at /.test(line) && this.#packageMarks.some((mark) => line.includes(mark)))
      .map((line) => this.#clean(`    ${line.trim()}`, 1000));
  }

  #clean(value: string, maxLength: number): string {
    let cleaned = value;
    for (const [from, to] of this.#replacements) cleaned = cleaned.replaceAll(from, to);
    return cut(cleaned, maxLength);
  }
}

interface ErrorLike {
  name: unknown;
  message: unknown;
  stack: unknown;
  cause?: unknown;
  errors?: unknown;
}

function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === "object" && value !== null && "message" in value && "stack" in value;
}

/** Whether the code asked not to be tried again, whichever copy of `FinalError` it threw. */
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
