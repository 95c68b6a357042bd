import { checkSavePath, openUpload, saveBody } from "./files.ts";
import type { RequestOptions, RestPluginOptions, TransferOptions, UploadOptions } from "./options.ts";
import { type Call, HttpClient } from "./request.ts";
import { parseBody } from "./response.ts";
import { resolveOptions, type Settings } from "./settings.ts";
import { type AgentTool, createTools } from "./tools.ts";

/**
 * Client of one HTTP API, for code and, through `tools`, for agents.
 *
 * Paths are appended to the base URL and cannot leave it. A response is returned as parsed JSON (`application/json`,
 * `+json`), as a string (text) or as a `Uint8Array`; an empty body as null. A status other than 2xx throws.
 *
 * ```ts
 * await using api = new RestPlugin({ baseUrl: "https://api.example.com/v1", apiKey: key });
 * const users = await api.get("/users", { params: { limit: 10 } });
 * ```
 *
 * @throws RestError from every method; `code` is the reason
 */
export class RestPlugin implements AsyncDisposable {
  /** The base URL without a trailing slash. */
  readonly baseUrl: string;
  /** `http_get`, `http_post`, `http_put` and `http_delete`, for a model to call. */
  readonly tools: readonly AgentTool[];
  readonly #settings: Settings;
  readonly #client: HttpClient;

  /** @throws RestError `invalid_argument` */
  constructor(options: RestPluginOptions) {
    this.#settings = resolveOptions(options);
    this.#client = new HttpClient(this.#settings);
    this.baseUrl = this.#settings.base.href;
    this.tools = createTools(this.#settings, (call) => this.#send(call));
  }

  /** Sends a GET request. */
  get<T = unknown>(path: string, options?: RequestOptions): Promise<T> {
    return this.#request("GET", path, undefined, options);
  }

  /** Sends a POST request with `data` as JSON, or without a body when `data` is undefined. */
  post<T = unknown>(path: string, data?: unknown, options?: RequestOptions): Promise<T> {
    return this.#request("POST", path, data, options);
  }

  /** Sends a PUT request with `data` as JSON, or without a body when `data` is undefined. */
  put<T = unknown>(path: string, data?: unknown, options?: RequestOptions): Promise<T> {
    return this.#request("PUT", path, data, options);
  }

  /** Sends a PATCH request with `data` as JSON, or without a body when `data` is undefined. */
  patch<T = unknown>(path: string, data?: unknown, options?: RequestOptions): Promise<T> {
    return this.#request("PATCH", path, data, options);
  }

  /** Sends a DELETE request. */
  delete<T = unknown>(path: string, options?: RequestOptions): Promise<T> {
    return this.#request("DELETE", path, undefined, options);
  }

  /**
   * Uploads a file by POST as a field of a form (multipart/form-data, RFC 7578), in bounded memory.
   *
   * @param filePath - a regular file; its own name is its name in the form
   * @returns the parsed response
   */
  async uploadFile<T = unknown>(
    endpoint: string,
    filePath: string,
    fieldName: string,
    options: UploadOptions = {},
  ): Promise<T> {
    const form = await openUpload(filePath, fieldName, options);
    const guarded = this.#settings.guardCode;
    return (await this.#send({ method: "POST", path: endpoint, options, ...form, guarded })) as T;
  }

  /**
   * Downloads the response to a GET request to a file, in bounded memory and without a size limit. The file at
   * `savePath` is replaced atomically when the download is complete; a failure leaves it unchanged.
   *
   * @returns `savePath`
   */
  async downloadFile(endpoint: string, savePath: string, options: TransferOptions = {}): Promise<string> {
    checkSavePath(savePath);
    const headers = { accept: "*/*" };
    const guarded = this.#settings.guardCode;
    const call: Call = { method: "GET", path: endpoint, options, headers, guarded };
    await this.#client.send(call, (response, line) => saveBody(response, line, savePath, options.onProgress));
    return savePath;
  }

  /** Aborts running calls with `closed`, closes idle connections and refuses further calls. */
  async close(): Promise<void> {
    this.#client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #request<T>(method: Call["method"], path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    const guarded = this.#settings.guardCode;
    return this.#send({ method, path, options, body, guarded }) as Promise<T>;
  }

  #send(call: Call): Promise<unknown> {
    return this.#client.send(call, (response, line) =>
      parseBody(response, line, this.#settings.maxResponseBytes),
    );
  }
}
