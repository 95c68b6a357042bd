/** The REST calls of the client: webhook requests, which have no other form, and the id of the organization. */
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { reasons, SvcError, toSvcError } from "./errors.ts";
import { type RetryPolicy, withRetries } from "./retry.ts";
import type { ExecutionStatus, TriggerOptions, TriggerResult } from "./types.ts";

/** Gets JSON. @throws SvcError */
export async function requestJson<T>(
  fetch: typeof globalThis.fetch,
  policy: RetryPolicy,
  url: string,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal | undefined },
): Promise<T> {
  try {
    return await withRetries(policy, true, signal, async () => {
      const response = await fetch(url, { headers, signal: signal ?? null });
      const body = await bodyOf(response);
      if (!response.ok) throw errorOf(response, body);
      return body as T;
    });
  } catch (error) {
    throw toSvcError(error, signal);
  }
}

/** The response of the service to a webhook request, unless the project sets another. */
interface Answer {
  execution_id: string;
  status: ExecutionStatus;
  output?: unknown;
}

/**
 * Sends a webhook request. It carries no API key: the URL is the secret.
 *
 * @throws SvcError; with `executionId` when the caller waited and the execution failed
 */
export async function triggerUrl(
  fetch: typeof globalThis.fetch,
  policy: RetryPolicy,
  url: string,
  payload: object,
  options: TriggerOptions,
): Promise<TriggerResult> {
  const { signal, waitSeconds, idempotencyKey } = options;
  const headers = new Headers(options.headers);
  headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  if (waitSeconds !== undefined) headers.set("prefer", `wait=${Math.max(1, Math.round(waitSeconds))}`);
  const body = JSON.stringify(payload);
  let failedId: string | undefined;
  try {
    return await withRetries(policy, idempotencyKey !== undefined, signal, async () => {
      const response = await fetch(url, { method: "POST", headers, body, signal: signal ?? null });
      const answer = await bodyOf(response);
      failedId = response.ok ? undefined : failedIdOf(answer);
      if (!response.ok) throw errorOf(response, answer);
      return toResult(response, answer);
    });
  } catch (error) {
    if (failedId === undefined) throw toSvcError(error, signal);
    throw new SvcError(ConnectError.from(error).rawMessage, {
      code: "internal",
      reason: reasons.executionFailed,
      executionId: failedId,
      cause: error,
    });
  }
}

function toResult({ headers }: Response, body: unknown): TriggerResult {
  const replayed = headers.get("idempotent-replayed") === "true";
  if (isAnswer(body)) {
    const { execution_id: executionId, status } = body;
    return { executionId, status, ...("output" in body && { output: body.output }), replayed };
  }
  const executionId = headers.get("location")?.split("/").at(-1) ?? "";
  if (body === "") return { executionId, status: "queued", replayed };
  return { executionId, status: "running", response: body, replayed };
}

const statuses: readonly unknown[] = ["queued", "running", "succeeded", "failed", "cancelled"];

/** Whether it is not the response that the project sets, which may have members of the same names. */
function isAnswer(body: unknown): body is Answer {
  if (!hasExecution(body) || !("status" in body) || !statuses.includes(body.status)) return false;
  return Object.keys(body).length === ("output" in body ? 3 : 2);
}

/** The ID of the execution that the caller awaited, and that failed. */
function failedIdOf(body: unknown): string | undefined {
  return hasExecution(body) && "code" in body ? body.execution_id : undefined;
}

function hasExecution(body: unknown): body is { execution_id: string } {
  if (typeof body !== "object" || body === null || !("execution_id" in body)) return false;
  return typeof body.execution_id === "string" && body.execution_id.startsWith("exe_");
}

/** JSON, or the text of other content. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return isJson ? JSON.parse(text) : text;
}

function errorOf(response: Response, body: unknown): ConnectError {
  const code = response.status >= 500 ? Code.Unavailable : Code.Unknown;
  const fallback = new ConnectError(`The server answered HTTP ${response.status}.`, code, response.headers);
  const isError =
    typeof body === "object" && body !== null && "code" in body && typeof body.code === "string";
  if (!isError) return fallback;
  return errorFromJson(body as Parameters<typeof errorFromJson>[0], response.headers, fallback);
}
