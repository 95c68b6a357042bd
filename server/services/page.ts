/**
 * Pages of lists (AIP-158). A token is opaque to clients: it holds the position of the last entry of its page and a digest
 * of the method and the filters, so that a token used with other filters is refused. Positions are keys of the sort order,
 * so entries that are added between two calls neither repeat nor hide others. Ids of several processes do not increase in
 * the order of the commits: a traversal returns every entry that was committed before its first page, and may or may not
 * return later ones.
 */
import { createHash } from "node:crypto";
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { fail } from "../errors.ts";

export interface Page {
  limit: number;
  /** The key of the last entry of the previous page; empty for the first page. */
  before: string;
  /** The token of the page after the entry with this key. */
  tokenAfter(key: string): string;
}

const maxPageSize = 1000;

/** A page fits into a message of 4 MiB, the default limit of gRPC clients, with room for one entry of up to 1 MiB. */
const maxPageBytes = 3 * 1024 * 1024;

/**
 * @param filters - the method and everything else that selects or orders the entries
 * @throws ConnectError `invalid_argument` when the token is malformed or belongs to other filters
 */
export function pageOf(
  request: { pageSize: number; pageToken: string },
  filters: readonly unknown[],
  defaultSize = 50,
): Page {
  const digest = createHash("sha256").update(JSON.stringify(filters)).digest("base64url").slice(0, 11);
  return {
    limit: request.pageSize === 0 ? defaultSize : Math.min(request.pageSize, maxPageSize),
    before: request.pageToken === "" ? "" : keyOf(request.pageToken, digest),
    tokenAfter: (key) => Buffer.from(`${digest}.${key}`).toString("base64url"),
  };
}

function keyOf(token: string, digest: string): string {
  const text = Buffer.from(token, "base64url").toString();
  const dot = text.indexOf(".");
  if (dot === digest.length && text.length > dot + 1 && text.startsWith(digest)) return text.slice(dot + 1);
  throw fail(
    "INVALID_PAGE_TOKEN",
    "Cannot use page_token: it must be the next_page_token of the previous page, with the same filters.",
    { metadata: { field: "page_token" } },
  );
}

export interface Listed<Desc extends DescMessage> {
  entries: MessageShape<Desc>[];
  nextPageToken: string;
}

export interface PageSource<Row, Desc extends DescMessage> {
  /** Reads rows after the key, at most `limit`. */
  read(before: string, limit: number): Promise<Row[]>;
  keyOf(row: Row): string;
  schema: Desc;
  convert(row: Row): MessageShape<Desc>;
  /** Rows of one read, for rows that may be large. Default: the whole page. */
  readSize?: number;
  /** Bytes of the entries as messages. Default: 3 MiB. */
  maxBytes?: number;
  /** The key of the last row that `read` has searched, when it ended before the list; empty otherwise. */
  stoppedAt?(): string;
}

/** A tag and a length precede each entry. */
const entryOverheadBytes = 6;

/** Reads a page, which ends early when its messages reach the limit of bytes. It has at least one entry, if there is one. */
export async function listPage<Row, Desc extends DescMessage>(
  page: Page,
  source: PageSource<Row, Desc>,
): Promise<Listed<Desc>> {
  const entries: MessageShape<Desc>[] = [];
  const maxBytes = source.maxBytes ?? maxPageBytes;
  let bytes = 0;
  let key = page.before;
  for (;;) {
    const size = Math.min(source.readSize ?? page.limit + 1, page.limit + 1 - entries.length);
    const rows = await source.read(key, size);
    for (const row of rows) {
      const entry = source.convert(row);
      bytes += toBinary(source.schema, entry).byteLength + entryOverheadBytes;
      const isFull = entries.length === page.limit || (bytes > maxBytes && entries.length > 0);
      if (isFull) return { entries, nextPageToken: page.tokenAfter(key) };
      entries.push(entry);
      key = source.keyOf(row);
    }
    if (rows.length < size) {
      const stoppedAt = source.stoppedAt?.() ?? "";
      return { entries, nextPageToken: stoppedAt === "" ? "" : page.tokenAfter(stoppedAt) };
    }
  }
}

/** A source of rows that are in memory, in the order of their keys. */
export function rowsAfter<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): (before: string, limit: number) => Promise<Row[]> {
  // Databases may sort text in another order.
  const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return async (before, limit) => {
    const start = before === "" ? 0 : sorted.findIndex((row) => keyOf(row) > before);
    return start < 0 ? [] : sorted.slice(start, start + limit);
  };
}
