/** The chat completions API of OpenAI, which many other services and local servers offer too. */
import { FinalError } from "svc";

export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface Completion {
  choices: { message: Message }[];
  usage?: { total_tokens: number };
}

/** One call of the model. @throws FinalError for answers that another attempt does not change */
export async function complete(
  baseUrl: string,
  key: string,
  request: { model: string; messages: readonly Message[]; tools: readonly unknown[] },
  signal: AbortSignal,
): Promise<{ message: Message; tokens: number }> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  if (!response.ok) {
    const text = `The model answered HTTP ${response.status}: ${(await response.text()).slice(0, 500)}`;
    throw response.status === 429 || response.status >= 500 ? new Error(text) : new FinalError(text);
  }
  const { choices, usage } = (await response.json()) as Completion;
  const message = choices[0]?.message;
  if (message === undefined) throw new Error("The model returned no message.");
  return { message, tokens: usage?.total_tokens ?? 0 };
}
