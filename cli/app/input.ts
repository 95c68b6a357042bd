import { readFile } from "node:fs/promises";
import { isJsonObject, type JsonObject } from "../../project/json.ts";
import { cleanLine } from "../terminal/format.ts";
import { say } from "../terminal/report.ts";
import { UsageError } from "./errors.ts";

/** `--data`, on commands that take an input. */
export const data = {
  data: {
    type: "string",
    alias: "d",
    valueHint: "file",
    description: "A file with the input, a JSON object; `-` reads standard input. {} when not given",
  },
} as const;

/**
 * Reads a JSON object from a file, or from standard input for `-`.
 *
 * @throws UsageError when it cannot be read, is not UTF-8, not JSON, or not an object
 */
export async function readInput(file: string | undefined): Promise<JsonObject> {
  if (file === undefined) return {};
  const name = file === "-" ? "standard input" : file;
  const value = parse(await readBytes(file), name);
  if (isJsonObject(value)) return value;
  const found = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  throw new UsageError(
    `The input must be a JSON object; ${name} holds ${found}.`,
    'For example {"title": "Crash on start"}.',
  );
}

async function readBytes(file: string): Promise<Uint8Array> {
  if (file === "-") {
    if (process.stdin.isTTY) say.detail("Reading JSON from the terminal; Ctrl-D ends it.");
    const chunks: Uint8Array[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : message;
    const advice = /^\s*[{[]/.test(file)
      ? "--data takes a file; for JSON in place: echo '{…}' | svc run <name> --data -"
      : "Name a file with a JSON object, or `-` for standard input.";
    throw new UsageError(`Cannot read ${cleanLine(file)}: ${cleanLine(reason)}.`, advice);
  }
}

function parse(bytes: Uint8Array, name: string): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`Cannot read ${name}: it is not UTF-8.`, "Save it as UTF-8.");
  }
  if (text.trim() === "") throw new UsageError(`Cannot read ${name}: it is empty.`, "An empty input is {}.");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `Cannot read ${name}: it is not JSON (${cleanLine((error as Error).message)}).`,
      "Check it where the message says.",
    );
  }
}
