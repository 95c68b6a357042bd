/** @returns the instants at which `Intl` shows a change of a zone's offset, to the minute */
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
