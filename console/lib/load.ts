/** Loads data for a component. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  /** The first load, or one after a change of what is loaded, is running. */
  loading: boolean;
  /** Loads again and keeps the shown data meanwhile. */
  reload(): Promise<void>;
}

/**
 * @param key - what is loaded; a change drops the shown data
 * @param version - a change loads again and keeps the shown data meanwhile
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
  version: unknown = 0,
): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: unknown } | null>(null);
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController | null>(null);
  const reload = useCallback(async () => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    try {
      const data = await latest.current(abort.signal);
      if (!abort.signal.aborted) setState({ key, data });
    } catch (error) {
      if (!abort.signal.aborted) setState({ key, error });
    }
  }, [key]);
  // A new version loads again.
  useEffect(() => {
    void reload();
    return () => running.current?.abort();
  }, [reload, version]);
  const current = state?.key === key ? state : null;
  return { data: current?.data, error: current?.error, loading: current === null, reload };
}

/** Calls `work` each `seconds` while the page is visible. */
export function useInterval(work: () => unknown, seconds: number): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const timer = setInterval(
      () => document.visibilityState === "visible" && latest.current(),
      seconds * 1000,
    );
    return () => clearInterval(timer);
  }, [seconds]);
}

/**
 * Follows a stream until the component is removed or `key` changes. A stream that breaks is opened again after a second.
 * @param open - true once the stream is complete
 */
export function useStream(open: (signal: AbortSignal) => Promise<boolean>, key: string): { broken: boolean } {
  const [broken, setBroken] = useState(false);
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    const abort = new AbortController();
    void (async () => {
      while (!abort.signal.aborted) {
        try {
          if (await latest.current(abort.signal)) return setBroken(false);
          setBroken(false);
        } catch {
          if (abort.signal.aborted) return;
          setBroken(true);
        }
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    })();
    return () => abort.abort();
  }, [key]);
  return { broken };
}
