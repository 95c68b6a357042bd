/** Sends a message to `/mcp` and passes on the answers: JSON, or server-sent events. */
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { ConnectionFailed, UnexpectedResponse } from "../api/failures.ts";

/**
 * @param onMessage - receives each message, JSON on one line
 * @throws ConnectError for a response that is not a message
 */
export async function postMessage(
  url: string,
  apiKey: string,
  body: string,
  signal: AbortSignal,
  onMessage: (text: string) => void,
): Promise<void> {
  const response = await send(url, apiKey, body, signal);
  const type = response.headers.get("content-type") ?? "";
  if (response.status === 202) return;
  if (type.startsWith("text/event-stream")) {
    for await (const data of eventsOf(response)) onMessage(data);
    return;
  }
  const text = await response.text();
  if (!type.startsWith("application/json")) throw failed(new UnexpectedResponse(url, response.status));
  const json = JSON.parse(text);
  if (json?.jsonrpc === undefined && !Array.isArray(json)) {
    throw errorFromJson(json, undefined, new ConnectError(`HTTP ${response.status}`, Code.Unknown));
  }
  onMessage(JSON.stringify(json));
}

async function send(url: string, apiKey: string, body: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body,
      // A redirect could send the key to another host.
      redirect: "manual",
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw failed(new ConnectionFailed(new URL(url).origin, error));
  }
}

/** In the form that `toCliError` describes. */
function failed(cause: Error): ConnectError {
  return new ConnectError(cause.message, Code.Unavailable, undefined, undefined, cause);
}

/** The data of each event. The service writes one line of data per event. */
async function* eventsOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ")) yield line.slice("data: ".length);
  }
}
