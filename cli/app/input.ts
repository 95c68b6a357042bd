import { readFile } from "node:fs/promises";
import { isJsonObject, type JsonObject } from "../../project/json.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { UsageError } from "./errors.ts";

/**
 * Reads a JSON object from the text of an option: JSON that begins with `{` or `[`, the name of a file, or `-` for
 * standard input.
 *
 * @throws UsageError when it cannot be read, is not UTF-8, not JSON, or not an object
 */
export async function readInput(text: string | undefined): Promise<JsonObject> {
  if (text === undefined) return {};
  const [name, bytes] = await readSource(text);
  const value = parseJson(bytes, name);
  if (isJsonObject(value)) return value;
  const type = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  throw new UsageError(
    `The input must be a JSON object; ${name} contains ${type}.`,
    'Example: {"title": "Crash on start"}',
  );
}

/** @returns the name of the source in messages, and its content */
async function readSource(text: string): Promise<[name: string, content: Uint8Array]> {
  if (/^\s*[{[]/.test(text)) return ["the given text", Buffer.from(text)];
  if (text !== "-") return [text, await readInputFile(text)];
  if (process.stdin.isTTY) report.detail("Reading JSON from the terminal; end with Ctrl-D.");
  return ["standard input", await readStandardInput()];
}

/** Reads standard input to its end. */
export async function readStandardInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

async function readInputFile(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? "the file does not exist" : code === "EISDIR" ? "it is a folder" : message;
    throw new UsageError(
      `Cannot read ${sanitizeLine(file)}: ${sanitizeLine(reason)}.`,
      "Pass a JSON object, a file that contains one, or - for standard input.",
    );
  }
}

function parseJson(bytes: Uint8Array, name: string): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`Cannot read ${name}: it is not UTF-8.`, "Save it as UTF-8.");
  }
  if (text.trim() === "")
    throw new UsageError(`Cannot read ${name}: it is empty.`, "For an empty input, pass {}.");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `Cannot read ${name}: it is not JSON (${sanitizeLine((error as Error).message)}).`,
      "Fix the JSON and run the command again.",
    );
  }
}
