import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { formatTime, relativeTime } from "../terminal/format.ts";

/** A timestamp as a `Date`; null when it is absent. */
export function dateOf(time: Timestamp | undefined): Date | null {
  return time === undefined ? null : new Date(Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6));
}

/** A `Date` as a field of a request; `timestampFromDate` would import the protobuf library. */
export function timestampOf(date: Date | undefined): { seconds: bigint; nanos: number } | undefined {
  if (date === undefined) return undefined;
  const seconds = Math.floor(date.getTime() / 1000);
  return { seconds: BigInt(seconds), nanos: (date.getTime() - seconds * 1000) * 1e6 };
}

/** A duration in milliseconds; 0 when it is absent. */
export function msOf(duration: Duration | undefined): number {
  return duration === undefined ? 0 : Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}

/** For columns: `5 min ago`; empty when absent. */
export function ago(time: Timestamp | undefined): string {
  const date = dateOf(time);
  return date === null ? "" : relativeTime(date);
}

/** For single values: `2026-11-20 10:08:05 (5 min ago)`; empty when absent. */
export function timeAndAge(time: Timestamp | undefined): string {
  const date = dateOf(time);
  return date === null ? "" : `${formatTime(date)} (${relativeTime(date)})`;
}

/** Milliseconds between two times; null unless both are present. */
export function elapsedMs(from: Timestamp | undefined, to: Timestamp | undefined): number | null {
  const start = dateOf(from);
  const end = dateOf(to);
  return start === null || end === null ? null : Math.max(0, end.getTime() - start.getTime());
}
