/** Calls REST paths. */
import { expect } from "vitest";
import type { TestServer } from "./server.ts";
import type { ErrorJson, ExecutionJson, WatchEvent } from "./shapes.ts";

/** The service and the key of a call. */
export type Caller = Pick<TestServer, "url" | "apiKey">;

export interface CallOptions {
  /** Sent unchanged, with `Content-Type: application/json` unless the headers contain another. */
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** Sent as JSON. */
  json?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Null sends no key. Default: the key of the caller. */
  key?: string | null;
  signal?: AbortSignal;
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body when it is JSON. Its type is not checked. */
  json: T;
}

/** Calls a path of the service, or a whole URL. Redirects are not followed. */
export async function call<T = ErrorJson>(
  caller: Caller,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<T>> {
  const response = await open(caller, method, path, options);
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  const json = (isJson ? JSON.parse(text) : undefined) as T;
  return { status: response.status, headers: response.headers, text, json };
}

/** Like `call`, without reading the body. */
export function open(
  caller: Caller,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  const headers = new Headers(options.headers);
  const key = options.key === undefined ? caller.apiKey : options.key;
  if (key !== null) headers.set("authorization", `Bearer ${key}`);
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const init: RequestInit & { duplex?: "half" } = { method, headers, redirect: "manual" };
  if (body !== undefined) init.body = body;
  if (body instanceof ReadableStream) init.duplex = "half";
  if (options.signal !== undefined) init.signal = options.signal;
  return fetch(path.startsWith("http") ? path : caller.url + path, init);
}

/** The JSON of a response. @throws Error when the status is not 200 */
export async function ok<T>(
  caller: Caller,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<T> {
  const answer = await call<T>(caller, method, path, options);
  if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  return answer.json;
}

/** Asserts an error response: its status, and a body with this code, this message and the details of the reason. */
export function expectError(
  answer: Answer<unknown>,
  status: number,
  code: string,
  message: RegExp,
  reason?: string,
): void {
  expect.soft(answer.status, answer.text).toBe(status);
  expect.soft(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.json).toEqual({ code, message: expect.stringMatching(message), details: expect.any(Array) });
  expect(reasonOf(answer.json as ErrorJson)).toEqual(reason ?? expect.stringMatching(/^[A-Z][A-Z_]+$/));
}

/** The stable reason of an error. */
export function reasonOf(error: ErrorJson): string | undefined {
  const info = error.details?.find(({ type }) => type === "google.rpc.ErrorInfo");
  return (info?.debug as { reason?: string } | undefined)?.reason;
}

/** The values of a stream of newline-delimited JSON. */
export async function* lines<T>(response: Response): AsyncGenerator<T> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const whole = rest.split("\n");
    rest = whole.pop() ?? "";
    for (const line of whole) yield JSON.parse(line) as T;
  }
  if (rest !== "") throw new Error(`The stream ended within a line: ${rest}`);
}

/** All events of the watch stream of an execution. */
export async function watched(caller: Caller, executionId: string): Promise<WatchEvent[]> {
  const response = await open(caller, "GET", `/api/v1/executions/${executionId}/watch`);
  if (response.status !== 200) throw new Error(`watch answered ${response.status}: ${await response.text()}`);
  return Array.fromAsync(lines<WatchEvent>(response));
}

/** Waits until the execution has finished. */
export async function ended(caller: Caller, executionId: string): Promise<ExecutionJson> {
  const states = (await watched(caller, executionId)).flatMap(({ execution }) => execution ?? []);
  const last = states.at(-1);
  if (last === undefined) throw new Error("The watch stream has no execution.");
  return last;
}

/** Starts an execution without waiting for it. */
export function run(caller: Caller, name: string, input: unknown = {}): Promise<ExecutionJson> {
  return ok<ExecutionJson>(caller, "POST", "/api/v1/executions", { json: { name, input } });
}

/** Runs an agent or workflow and waits until the execution has finished. */
export async function runToEnd(caller: Caller, name: string, input: unknown = {}): Promise<ExecutionJson> {
  return ended(caller, (await run(caller, name, input)).execution_id);
}
