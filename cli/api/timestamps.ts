import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { distance, localTime } from "../terminal/format.ts";

/** A time of the contract as a `Date`; null when it is absent. */
export function dateOf(time: Timestamp | undefined): Date | null {
  return time === undefined ? null : new Date(Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6));
}

/** For columns: `5 min ago`; empty when absent. */
export function ago(time: Timestamp | undefined): string {
  const date = dateOf(time);
  return date === null ? "" : distance(date);
}

/** For single things: `2026-11-20 10:08:05 (5 min ago)`; empty when absent. */
export function moment(time: Timestamp | undefined): string {
  const date = dateOf(time);
  return date === null ? "" : `${localTime(date)} (${distance(date)})`;
}

/** Milliseconds between two times; null unless both are there. */
export function elapsedMs(from: Timestamp | undefined, to: Timestamp | undefined): number | null {
  const start = dateOf(from);
  const end = dateOf(to);
  return start === null || end === null ? null : Math.max(0, end.getTime() - start.getTime());
}
