/** Clock changes as `Intl` shows them, found without project/cron. */

/** The instants from `from` until `to` at which the offset of a zone changes, to the minute. */
export function changesOf(timezone: string, from: number, to: number): number[] {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: timezone, timeZoneName: "longOffset" });
  const offsetAt = (instant: number): string => format.format(instant).split(", ")[1] ?? "";
  const changes: number[] = [];
  const dayMs = 86_400_000;
  for (let instant = from; instant < to; instant += dayMs) {
    let [low, high] = [instant, instant + dayMs];
    if (offsetAt(low) === offsetAt(high)) {
      continue;
    }
    while (high - low > 60_000) {
      const middle = Math.floor((low + high) / 120_000) * 60_000;
      [low, high] = offsetAt(middle) === offsetAt(low) ? [middle, high] : [low, middle];
    }
    changes.push(high);
  }
  return changes;
}
