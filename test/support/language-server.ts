/** The language server of TypeScript, as an editor starts it. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { bin } from "./runtimes.ts";

interface Message {
  id?: number | string;
  method?: string;
  params?: object;
  result?: unknown;
}

interface Report {
  items: { message: string; range: { start: { line: number } } }[];
}

/** What an editor underlines in files: errors, warnings and suggestions, as `<file>:<line>: <message>`. */
export async function editorDiagnostics(folder: string, files: readonly string[]): Promise<string[]> {
  const child = spawn(bin("tsc"), ["--lsp", "--stdio"], { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map<number, (result: unknown) => void>();
  let input = Buffer.alloc(0);
  const send = (message: Message): void => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const request = (id: number, method: string, params: object): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  child.stdout.on("data", (chunk: Buffer) => {
    input = Buffer.concat([input, chunk]);
    for (;;) {
      const end = input.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/.exec(input.subarray(0, end).toString())?.[1]);
      if (end < 0 || input.length < end + 4 + length) return;
      const message = JSON.parse(input.subarray(end + 4, end + 4 + length).toString()) as Message;
      input = input.subarray(end + 4 + length);
      if (message.method === undefined) waiting.get(Number(message.id))?.(message.result);
      // A request of the server, such as one for the editor's settings.
      else if (message.id !== undefined) send({ id: message.id, result: null });
    }
  });
  try {
    const capabilities = { textDocument: { diagnostic: {} } };
    await request(0, "initialize", { processId: process.pid, rootUri: uriOf(folder), capabilities });
    send({ method: "initialized", params: {} });
    const found: string[] = [];
    for (const [index, file] of files.entries()) {
      const textDocument = { uri: uriOf(file), languageId: "typescript", version: 1 };
      send({
        method: "textDocument/didOpen",
        params: { textDocument: { ...textDocument, text: readFileSync(file, "utf8") } },
      });
      const report = (await request(index + 1, "textDocument/diagnostic", { textDocument })) as Report;
      found.push(...report.items.map(({ message, range }) => `${file}:${range.start.line + 1}: ${message}`));
    }
    return found;
  } finally {
    child.kill();
  }
}

function uriOf(path: string): string {
  return pathToFileURL(path).href;
}
