import { parseBody } from "./body.ts";
import { checkSavePath, saveBody } from "./download.ts";
import { type Call, createEngine, type Engine } from "./engine.ts";
import type { Exchange } from "./exchange.ts";
import type { Method } from "./method.ts";
import type { RequestOptions, RestPluginOptions } from "./options.ts";
import { resolveOptions, type Settings } from "./settings.ts";
import { type AgentTool, createTools } from "./tools.ts";
import type { TransferOptions } from "./transfer.ts";
import { openUpload, type UploadOptions } from "./upload.ts";

const noOptions: RequestOptions = {};

/**
 * A client for one HTTP API, for code and, through `tools`, for agents.
 *
 * Every path is appended to the base URL and cannot leave it. JSON (`application/json`, `+json`) is returned parsed,
 * text as a string, anything else as a `Uint8Array`, an empty body as null. A status other than 2xx throws.
 *
 * ```ts
 * await using api = new RestPlugin({ baseUrl: "https://api.example.com/v1", apiKey: key });
 * const users = await api.get("/users", { params: { limit: 10 } });
 * ```
 *
 * @throws RestError from every method; `code` says why
 */
export class RestPlugin implements AsyncDisposable {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** `http_get`, `http_post`, `http_put` and `http_delete`, for a model to call. */
  readonly tools: readonly AgentTool[];
  readonly #settings: Settings;
  readonly #engine: Engine;
  readonly #parse = (response: Response, exchange: Exchange): Promise<unknown> =>
    parseBody(response, exchange, this.#settings.maxResponseBytes);

  /** @throws RestError `invalid_argument` */
  constructor(options: RestPluginOptions) {
    this.#settings = resolveOptions(options);
    this.#engine = createEngine(this.#settings);
    this.baseUrl = this.#settings.base.href;
    this.tools = createTools(this.#settings, (call) =>
      this.#parsed({ ...call, guarded: this.#settings.guardTools }),
    );
  }

  /** Sends a GET request. */
  get<T = unknown>(path: string, options: RequestOptions = noOptions): Promise<T> {
    return this.#request("GET", path, undefined, options);
  }

  /** Sends a POST request with `data` as JSON; without data, without a body. */
  post<T = unknown>(path: string, data?: unknown, options: RequestOptions = noOptions): Promise<T> {
    return this.#request("POST", path, data, options);
  }

  /** Sends a PUT request with `data` as JSON; without data, without a body. */
  put<T = unknown>(path: string, data?: unknown, options: RequestOptions = noOptions): Promise<T> {
    return this.#request("PUT", path, data, options);
  }

  /** Sends a PATCH request with `data` as JSON; without data, without a body. */
  patch<T = unknown>(path: string, data?: unknown, options: RequestOptions = noOptions): Promise<T> {
    return this.#request("PATCH", path, data, options);
  }

  /** Sends a DELETE request. */
  delete<T = unknown>(path: string, options: RequestOptions = noOptions): Promise<T> {
    return this.#request("DELETE", path, undefined, options);
  }

  /**
   * Sends a file as a field of a form (multipart/form-data, RFC 7578) by POST, in bounded memory.
   *
   * @param filePath - a regular file; its own name is the name in the form
   * @returns the parsed answer
   */
  async uploadFile<T = unknown>(
    endpoint: string,
    filePath: string,
    fieldName: string,
    options: UploadOptions = {},
  ): Promise<T> {
    const { contentType, body } = await openUpload(filePath, fieldName, options);
    const headers = { "content-type": contentType };
    return (await this.#parsed({
      method: "POST",
      path: endpoint,
      options,
      headers,
      body,
      guarded: this.#settings.guardCode,
    })) as T;
  }

  /**
   * Saves the answer to a GET request as a file, in bounded memory and of any size. `savePath` is replaced at once when
   * the file is complete; until then, and after a failure, it is as it was.
   *
   * @returns `savePath`
   */
  async downloadFile(endpoint: string, savePath: string, options: TransferOptions = {}): Promise<string> {
    checkSavePath(savePath);
    const call: Call = {
      method: "GET",
      path: endpoint,
      options,
      headers: { accept: "*/*" },
      guarded: this.#settings.guardCode,
    };
    await this.#engine.run(call, (response, exchange) =>
      saveBody(response, exchange, savePath, options.onProgress),
    );
    return savePath;
  }

  /** Breaks off what is running (`closed`), lets go of kept connections, and refuses further requests. */
  async close(): Promise<void> {
    this.#engine.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #request<T>(method: Method, path: string, body: unknown, options: RequestOptions): Promise<T> {
    return this.#parsed({ method, path, options, body, guarded: this.#settings.guardCode }) as Promise<T>;
  }

  #parsed(call: Call): Promise<unknown> {
    return this.#engine.run(call, this.#parse);
  }
}
