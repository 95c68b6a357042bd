/** The request got no response: no address, no connection, or a broken connection. */
export class ConnectionFailed extends Error {
  override readonly name: string = "ConnectionFailed";
  readonly baseUrl: string;

  constructor(baseUrl: string, cause: unknown) {
    super(`Cannot reach ${baseUrl}`, { cause });
    this.baseUrl = baseUrl;
  }
}

/** The response is not from this service, or the service has another address. */
export class UnexpectedResponse extends Error {
  override readonly name: string = "UnexpectedResponse";
  readonly url: string;
  readonly status: number;

  constructor(url: string, status: number) {
    super(`HTTP ${status} from ${url}`);
    this.url = url;
    this.status = status;
  }
}
