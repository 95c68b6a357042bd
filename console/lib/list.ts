/** A list that is read page by page, and whose first page stays live. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoad } from "./load.ts";

export interface ListPage<Row> {
  rows: readonly Row[];
  /** Of the next page; empty on the last one. */
  token: string;
  /** The time back to which a search has read, when it ended before the page was full. */
  searchedTo?: Date | null;
}

export interface List<Row> {
  /** Undefined until the first page is loaded. */
  rows: readonly Row[] | undefined;
  error: unknown;
  loading: boolean;
  token: string;
  /** Set while a search continues by itself. */
  searchedTo: Date | null;
  /** A page or a part of a search is being loaded. */
  isBusy: boolean;
  /** Loads the first page again, unless further ones are shown. */
  refresh(): void;
  more(): void;
}

/** A search continues by itself for this many requests, each of up to 50,000 rows; then a person decides. */
const maxRequests = 20;

export function useList<Row>(
  read: (token: string, signal: AbortSignal) => Promise<ListPage<Row>>,
  key: string,
): List<Row> {
  const head = useLoad((signal) => read("", signal), key);
  const [tail, setTail] = useState<{ key: string; pages: ListPage<Row>[] }>({ key, pages: [] });
  const [failure, setFailure] = useState<{ key: string; error: unknown } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const pages = tail.key === key ? tail.pages : [];
  const last = pages.at(-1) ?? head.data;
  const token = last?.token ?? "";
  const loading = useRef<AbortController | null>(null);
  // For each list.
  useEffect(() => () => loading.current?.abort(), [key]);

  async function more(): Promise<void> {
    loading.current?.abort();
    const abort = new AbortController();
    loading.current = abort;
    setBusy(true);
    let [next, added] = [token, 0];
    const known = [...pages];
    try {
      for (let request = 0; request < maxRequests && next !== "" && added === 0; request++) {
        const page = await read(next, abort.signal);
        if (abort.signal.aborted) return;
        known.push(page);
        added += page.rows.length;
        next = page.token;
        setTail({ key, pages: [...known] });
      }
      setFailure(null);
    } catch (error) {
      if (!abort.signal.aborted) setFailure({ key, error });
    } finally {
      if (!abort.signal.aborted) setBusy(false);
    }
  }

  const searchedTo = last?.searchedTo ?? null;
  const isEmpty = (head.data?.rows.length ?? 0) === 0 && pages.length === 0;
  // A search without a result so far.
  useEffect(() => {
    if (searchedTo !== null && isEmpty) void more();
  }, [key, searchedTo !== null && isEmpty]);

  return {
    rows: head.data === undefined ? undefined : [...head.data.rows, ...pages.flatMap((page) => page.rows)],
    error: head.error ?? (failure?.key === key ? failure.error : undefined),
    loading: head.loading,
    token,
    searchedTo,
    isBusy,
    refresh: () => {
      if (pages.length === 0 && searchedTo === null) void head.reload();
    },
    more: () => void more(),
  };
}
