/** The client. Calls go through one transport; results are plain objects. */
import type { DescService, JsonObject } from "@bufbuild/protobuf";
import {
  createClient as createServiceClient,
  type Client as ServiceClient,
  type Transport,
} from "@connectrpc/connect";
import { type Execution as ExecutionMessage, ExecutionService } from "../proto/svc/v1/execution_pb.ts";
import { executionError, reasons, SvcError, toSvcError } from "./errors.ts";
import { isEnd, toExecution } from "./execution.ts";
import { listExecutions } from "./list.ts";
import { requestJson, triggerUrl } from "./rest.ts";
import { type RetryPolicy, retryPolicy } from "./retry.ts";
import { tailLogs, watchExecution } from "./streams.ts";
import type { InputAndOptions, OutputOf, TargetName } from "./targets.ts";
import { createTransport, safeFetch } from "./transport.ts";
import type {
  CallOptions,
  Execution,
  ListOptions,
  LogLine,
  LogOptions,
  ReplayOptions,
  RetryOptions,
  RunOptions,
  StartOptions,
  TriggerOptions,
  TriggerResult,
  WaitOptions,
  WatchEvent,
  WatchOptions,
} from "./types.ts";

export interface ClientOptions {
  /** Address of the service. Append `/env/<environment>` to select an environment. */
  baseUrl: string;
  /** API key. Without one only `trigger` with a URL works. */
  apiKey?: string | undefined;
  /** Default: the `fetch` of the runtime. */
  fetch?: typeof globalThis.fetch | undefined;
  retry?: RetryOptions | undefined;
}

export class Client {
  /** For the raw clients of services and for other uses of Connect. */
  readonly transport: Transport;
  readonly #baseUrl: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof globalThis.fetch;
  readonly #policy: RetryPolicy;
  readonly #executions: ServiceClient<typeof ExecutionService>;
  #orgId: string | undefined;

  constructor({ baseUrl, apiKey, fetch = globalThis.fetch, retry }: ClientOptions) {
    if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
      throw new TypeError(`Cannot create a client: baseUrl must be an http or https URL, not '${baseUrl}'.`);
    }
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.#policy = retryPolicy(retry);
    // Some runtimes require that `fetch` is called as a function of the global object.
    const call: typeof globalThis.fetch = (input, init) => fetch(input, init);
    this.#fetch = safeFetch(call);
    this.transport = createTransport({ baseUrl: this.#baseUrl, apiKey, fetch: call, retry: this.#policy });
    this.#executions = createServiceClient(ExecutionService, this.transport);
  }

  /** A raw client of a service of the contract. Its errors are of the type `ConnectError`. */
  service<Service extends DescService>(service: Service): ServiceClient<Service> {
    return createServiceClient(service, this.transport);
  }

  /**
   * Runs an agent or workflow and returns its output.
   *
   * @throws SvcError with the reason `EXECUTION_FAILED`, `EXECUTION_CANCELLED` or `WAIT_EXPIRED` and the execution id. The
   * execution continues when the wait expires or the signal is aborted.
   */
  async run<Name extends TargetName>(
    name: Name,
    ...[input, options = {}]: InputAndOptions<Name, RunOptions>
  ): Promise<OutputOf<Name>> {
    const started = await this.#start(name, input, options);
    const execution = await this.wait(started.executionId, options);
    if (execution.status !== "succeeded") throw executionError(execution);
    return execution.output as OutputOf<Name>;
  }

  /** Starts an agent or workflow and returns the queued execution. */
  async start<Name extends TargetName>(
    name: Name,
    ...[input, options = {}]: InputAndOptions<Name, StartOptions>
  ): Promise<Execution> {
    return await this.#start(name, input, options);
  }

  async #start(name: string, input: object | undefined, options: StartOptions): Promise<Execution> {
    const { kind, signal, idempotencyKey } = options;
    const request = { name, kind: kind ?? "", input: (input ?? {}) as JsonObject };
    const headers: Record<string, string> =
      idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
    return await this.#one(signal, (call) => this.#executions.runExecution(request, { ...call, headers }));
  }

  /** Waits for the end of an execution, however it ends. */
  async wait(executionId: string, { waitSeconds, signal }: WaitOptions = {}): Promise<Execution> {
    const expired = waitSeconds === undefined ? undefined : AbortSignal.timeout(waitSeconds * 1000);
    const signals = [signal, expired].filter((one) => one !== undefined);
    try {
      for await (const event of this.watch(executionId, { signal: AbortSignal.any(signals) })) {
        if (event.type === "execution" && isEnd(event.execution)) return event.execution;
      }
    } catch (error) {
      if (expired?.aborted !== true || signal?.aborted) throw error;
      throw new SvcError(`The execution has not finished within ${waitSeconds} s. It continues.`, {
        code: "deadline_exceeded",
        reason: reasons.waitExpired,
        executionId,
        cause: error,
      });
    }
    return await this.get(executionId, { signal });
  }

  async get(executionId: string, { signal }: CallOptions = {}): Promise<Execution> {
    return await this.#one(
      signal,
      (call) => this.#executions.getExecution({ executionId }, call),
      executionId,
    );
  }

  /** Cancels an execution and its child executions. */
  async cancel(executionId: string, { signal }: CallOptions = {}): Promise<Execution> {
    return await this.#one(
      signal,
      (call) => this.#executions.cancelExecution({ executionId }, call),
      executionId,
    );
  }

  /** Runs the input of an execution again as a new execution. */
  async replay(executionId: string, options: ReplayOptions = {}): Promise<Execution> {
    const { signal, deploymentId, input } = options;
    const request = {
      executionId,
      deploymentId: deploymentId ?? "",
      ...(input !== undefined && { input: input as JsonObject }),
    };
    return await this.#one(signal, (call) => this.#executions.replayExecution(request, call), executionId);
  }

  /** The executions, newest first; requests the next page when the iteration reaches it. */
  list(options: ListOptions = {}): AsyncGenerator<Execution> {
    return listExecutions(this.#executions, options);
  }

  /**
   * The states and log entries of an execution until it has ended and its log is complete. Reconnects after a broken
   * connection without repeating entries.
   */
  watch(executionId: string, options: WatchOptions = {}): AsyncGenerator<WatchEvent> {
    return watchExecution({ service: this.#executions, policy: this.#policy }, executionId, options);
  }

  /** The last log entries, oldest first, and new ones with `follow`. Reconnects like `watch`. */
  logs(options: LogOptions = {}): AsyncGenerator<LogLine> {
    return tailLogs({ service: this.#executions, policy: this.#policy }, options);
  }

  /**
   * Sends a payload to a webhook.
   *
   * @param hook - the URL of the webhook, or its slug if only one webhook has it
   */
  async trigger(hook: string, payload: object = {}, options: TriggerOptions = {}): Promise<TriggerResult> {
    const url = /^https?:\/\//.test(hook) ? hook : await this.#webhookUrl(hook, options.signal);
    return await triggerUrl(this.#fetch, this.#policy, url, payload, options);
  }

  async #one(
    signal: AbortSignal | undefined,
    call: (options: { signal?: AbortSignal | undefined }) => Promise<ExecutionMessage>,
    executionId?: string,
  ): Promise<Execution> {
    try {
      return toExecution(await call({ signal }));
    } catch (error) {
      throw toSvcError(error, signal, executionId);
    }
  }

  async #webhookUrl(slug: string, signal: AbortSignal | undefined): Promise<string> {
    if (this.#orgId === undefined) {
      const url = `${this.#baseUrl}/api/v1/organization`;
      const { org_id } = await requestJson<{ org_id: string }>(this.#fetch, this.#policy, url, {
        headers: this.#headers,
        signal,
      });
      this.#orgId = org_id;
    }
    const orgId = this.#orgId;
    return `${this.#baseUrl}/api/v1/webhooks/trigger/${orgId}/${encodeURIComponent(slug)}`;
  }
}

/** Creates a client. Nothing is sent before its first call. */
export function createClient(options: ClientOptions): Client {
  return new Client(options);
}
