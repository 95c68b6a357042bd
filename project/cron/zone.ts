/**
 * The clock of a time zone as *stretches*: times during which its offset from UTC stays the same.
 *
 * They are found by asking `Intl` for the offset every four days of a block of years and by bisection between two
 * answers that differ. The nearest two changes of any zone since 1972 are 167 hours apart (America/Boa_Vista,
 * October 2000). A formatter costs up to a millisecond to make and an answer of it a microsecond and a half, so a block
 * costs about a millisecond, once; a look-up in it costs nanoseconds. Formatters are not kept: each holds tens of
 * kilobytes outside the heap.
 *
 * What a block holds depends on nothing but the zone and the block, so that a cache never changes an answer.
 */
import { checkTimeZone } from "./check.ts";

export interface Stretch {
  /** Milliseconds since 1970 in UTC; the first instant of the stretch. */
  readonly from: number;
  /** The first instant after it. */
  readonly until: number;
  /** Local time less UTC, in milliseconds. */
  readonly offset: number;
  /** The offset before `from`; the same when the stretch begins with its block and not with a change. */
  readonly offsetBefore: number;
}

export interface Zone {
  readonly name: string;
  readonly blocks: Map<number, readonly Stretch[]>;
  /** The stretch that was asked for last. */
  recent: Stretch;
}

const probeMs = 4 * 86_400_000;
/** A little more than four years. */
const blockMs = 366 * probeMs;
/** Blocks kept for one zone: two and a half centuries. */
const maxBlocks = 64;
const nowhere: Stretch = { from: 0, until: 0, offset: 0, offsetBefore: 0 };

const zones = new Map<string, Zone>();

/** @throws Error when the name is not a time zone's, see `checkTimeZone` */
export function findZone(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) {
    checkTimeZone(name);
    zone = { name, blocks: new Map(), recent: nowhere };
    zones.set(name, zone);
  }
  return zone;
}

/** The stretch of a zone that holds an instant. */
export function stretchAt(zone: Zone, instant: number): Stretch {
  if (instant >= zone.recent.from && instant < zone.recent.until) {
    return zone.recent;
  }
  const index = Math.floor(instant / blockMs);
  let block = zone.blocks.get(index);
  if (block === undefined) {
    if (zone.blocks.size === maxBlocks) {
      zone.blocks.clear();
    }
    block = buildBlock(zone.name, index * blockMs);
    zone.blocks.set(index, block);
  }
  zone.recent = block.find((stretch) => instant < stretch.until) ?? nowhere;
  return zone.recent;
}

function buildBlock(name: string, start: number): Stretch[] {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
  const offsetAt = (instant: number): number => readOffset(format.format(instant));
  const stretches: Stretch[] = [];
  const end = start + blockMs;
  let from = start;
  let offsetBefore = offsetAt(start - 1);
  let offset = offsetBefore;
  for (let probe = start - 1; probe < end - 1; probe += probeMs) {
    const last = probe + probeMs;
    if (offsetAt(last) === offset) {
      continue;
    }
    const change = bisect(probe, last, (instant) => offsetAt(instant) !== offset);
    if (change > from) {
      stretches.push({ from, until: change, offset, offsetBefore });
      offsetBefore = offset;
    }
    from = change;
    offset = offsetAt(change);
  }
  stretches.push({ from, until: end, offset, offsetBefore });
  return stretches;
}

/** The first instant after `low`, and not after `high`, at which `changed` is true. */
function bisect(low: number, high: number, changed: (instant: number) => boolean): number {
  let [before, after] = [low, high];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (changed(middle)) {
      after = middle;
    } else {
      before = middle;
    }
  }
  return after;
}

/** Reads the end of `3/29/2026, GMT+02:00`; zero is `GMT` or `GMT+00:00`, and before 1972 some have seconds. */
function readOffset(text: string): number {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null) {
    throw new Error(
      `Cannot read the offset of a time zone in ${JSON.stringify(text)}: it must end with GMT±hh:mm`,
    );
  }
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = match;
  const size = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
  return sign === "-" ? -size : size;
}
