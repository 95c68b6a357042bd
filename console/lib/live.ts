/** Reloads lists when the figures of the service change. */
import { useEffect, useRef } from "preact/hooks";
import { api } from "./api.ts";
import { useInterval, useStream } from "./load.ts";

/** Changes that the figures do not show, such as the start of a queued execution. */
const fallbackSeconds = 15;

/**
 * Calls `reload` when executions or deliveries have come or ended, while the page is visible. A hidden page catches up when it
 * is shown.
 */
export function useLive(reload: () => unknown): void {
  const latest = useRef(reload);
  latest.current = reload;
  const isStale = useRef(false);
  const refresh = () => {
    isStale.current = document.visibilityState !== "visible";
    if (!isStale.current) latest.current();
  };
  const openedMs = useRef(performance.now());
  useStream(async (signal) => {
    let isFirst = true;
    for await (const _ of api.statistics.watchStatistics({ period: "1h", follow: true }, { signal })) {
      // The figures of the first message may have changed after the list was loaded: they follow changes within a second.
      if (!isFirst || performance.now() - openedMs.current > 500) refresh();
      isFirst = false;
    }
    return false;
  }, "live");
  // For as long as the list is shown.
  useEffect(() => {
    const onShow = () => isStale.current && refresh();
    document.addEventListener("visibilitychange", onShow);
    return () => document.removeEventListener("visibilitychange", onShow);
  }, []);
  useInterval(refresh, fallbackSeconds);
}
