/** The requests of a load generator, as bytes. */

export interface RequestOptions {
  url: string;
  /** Bytes of the JSON body, at least 60; about that many when it holds `{n}`. Ignored when `body` is given. */
  bodyBytes: number;
  /** A given body instead of a generated one. */
  body?: string;
  /** More headers. In their values, as in `body`, `{n}` stands for 16 digits, see `LoadOptions.digits`. */
  headers: Record<string, string>;
}

const digits = 16;
const blank = "0".repeat(digits);

/** A request whose copies are numbered in place. */
export class RequestTemplate {
  readonly #bytes: Buffer;
  readonly #offsets: number[] = [];

  constructor({ url, bodyBytes, body = bodyOf(bodyBytes), headers }: RequestOptions) {
    const { host, pathname, search } = new URL(url);
    const filled = body.replaceAll("{n}", blank);
    const lines = Object.entries({
      Host: host,
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(filled)),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = `POST ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
    const parts = text.split("{n}");
    let offset = 0;
    for (const part of parts.slice(0, -1)) {
      offset += Buffer.byteLength(part);
      this.#offsets.push(offset);
      offset += digits;
    }
    this.#bytes = Buffer.from(parts.join(blank));
  }

  /** A copy for one connection. */
  copy(): Buffer {
    return Buffer.from(this.#bytes);
  }

  /** Writes the number into a copy. */
  number(copy: Buffer, n: number): Buffer {
    if (this.#offsets.length === 0) return copy;
    const text = String(n).padStart(digits, "0");
    for (const offset of this.#offsets) copy.write(text, offset, "latin1");
    return copy;
  }
}

/** A typical webhook payload of this size: fields, a nested object and a list of small objects. */
export function bodyOf(bytes: number): string {
  const event = { id: "evt_1", type: "order.paid", data: { n: 1, items: [] as object[] }, note: "" };
  let length = JSON.stringify(event).length;
  for (let i = 0; length + 80 < bytes; i++) {
    const item = { sku: `item-${i}`, count: i % 7, price: i * 1.25, tags: ["a", "b"] };
    event.data.items.push(item);
    length += JSON.stringify(item).length + (i === 0 ? 0 : 1);
  }
  event.note = "x".repeat(Math.max(0, bytes - JSON.stringify(event).length));
  return JSON.stringify(event);
}

/** Splits `Name: value`. */
export function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  if (colon < 1) throw new Error(`Cannot send a header: it must be 'Name: value', not '${line}'.`);
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
