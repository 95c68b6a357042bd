/**
 * Serves the Model Context Protocol over standard input and output, one message per line, with the `/mcp` of the service.
 * Requests run at the same time. Errors of the connection become errors of their requests.
 */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { toCliError } from "../api/error-messages.ts";
import type { Selection } from "../profiles/select.ts";
import { postMessage } from "./post.ts";

interface Message {
  id?: string | number;
  method?: string;
  params?: { requestId?: string | number };
}

/** Resolves when the input has ended and all its requests are answered. */
export async function serveStdio(
  selection: Pick<Selection, "apiKey">,
  url: string,
  input: Readable,
  output: Writable,
): Promise<void> {
  const running = new Map<string | number, AbortController>();
  const pending = new Set<Promise<void>>();
  const send = (text: string): void => void output.write(`${text}\n`);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    const message = parse(line);
    if (message?.method === "notifications/cancelled") running.get(message.params?.requestId ?? "")?.abort();
    const work = forward(line, message);
    pending.add(work);
    work.finally(() => pending.delete(work));
  }
  await Promise.all(pending);

  async function forward(line: string, message: Message | null): Promise<void> {
    const id = message?.id;
    const abort = new AbortController();
    if (id !== undefined) running.set(id, abort);
    try {
      await postMessage(url, selection.apiKey, line, abort.signal, send);
    } catch (error) {
      // A client expects no answer to a request that it cancelled.
      if (!abort.signal.aborted) send(errorMessage(id, error));
    } finally {
      if (id !== undefined) running.delete(id);
    }
  }
}

/** Null for text that the service will refuse. */
function parse(line: string): Message | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" ? (message as Message | null) : null;
  } catch {
    return null;
  }
}

function errorMessage(id: string | number | undefined, thrown: unknown): string {
  const { message, advice } = toCliError(thrown);
  return JSON.stringify({
    jsonrpc: "2.0",
    id: id ?? null,
    error: { code: -32603, message: `${message} ${advice}` },
  });
}
