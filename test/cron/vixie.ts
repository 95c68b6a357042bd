/**
 * A simulation of Vixie's cron, minute by minute: the oracle of the property tests. It shares no code with project/cron.
 * It reads the local time of each minute from `Intl` and keeps a virtual time that catches up with a clock that jumps, as
 * cron(8) describes.
 */

/** A local time. */
export interface Wall {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
  /** Minutes since 1970 on the wall clock. */
  count: number;
}

const minuteMs = 60_000;
const names = "sun mon tue wed thu fri sat . jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** @returns the runs after `after` and not after `until`, in order. Both are whole minutes. */
export function simulate(expression: string, timezone: string, after: number, until: number): number[] {
  const fields = expression.split(" ");
  const wildcard = /^\*/.test(fields[0] ?? "") || /^\*/.test(fields[1] ?? "");
  const clock = wallClock(timezone);
  const runs: number[] = [];
  // Starts half a day early, because a change before `after` may still have an effect.
  let virtual = clock(after - 720 * minuteMs).count;
  for (let instant = after - 719 * minuteMs; instant <= until; instant += minuteMs) {
    const now = clock(instant);
    const jump = now.count - virtual - 1;
    let due = false;
    if (jump === 0 || Math.abs(jump) >= 180) {
      due = matches(fields, now);
      virtual = now.count;
    } else if (wildcard) {
      due = matches(fields, now);
      virtual = Math.max(virtual, now.count);
    } else {
      while (virtual < now.count) {
        virtual += 1;
        due = matches(fields, wallOf(virtual)) || due;
      }
    }
    if (due && instant > after) {
      runs.push(instant);
    }
  }
  return runs;
}

/** Whether the fields match a local time. */
export function matches(fields: readonly string[], wall: Wall): boolean {
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const onDay = includes(day, wall.day, 1, 31);
  const onWeekday =
    includes(weekday, wall.weekday, 0, 7) || (wall.weekday === 0 && includes(weekday, 7, 0, 7));
  return (
    includes(minute, wall.minute, 0, 59) &&
    includes(hour, wall.hour, 0, 23) &&
    includes(month, wall.month, 1, 12) &&
    (day[0] === "*" || weekday[0] === "*" ? onDay && onWeekday : onDay || onWeekday)
  );
}

function includes(field: string, value: number, low: number, high: number): boolean {
  return field.split(",").some((item) => {
    const [range = "", step = "1"] = item.split("/");
    const [from = "", to = from] = range === "*" ? [String(low), String(high)] : range.split("-");
    const first = toNumber(from);
    // `fri-sun` ends with the Sunday after Friday.
    const last = first > 0 && to.toLowerCase() === "sun" ? 7 : toNumber(to);
    return value >= first && value <= last && (value - first) % Number(step) === 0;
  });
}

function toNumber(text: string): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? Number(text) : index > 7 ? index - 7 : index;
}

/** The local time of a number of minutes since 1970 on the wall clock. */
export function wallOf(count: number): Wall {
  const date = new Date(count * minuteMs);
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
    count,
  };
}

/** The wall clock of a zone at whole minutes, with a cache. */
export function wallClock(timezone: string): (instant: number) => Wall {
  const known = clocks.get(timezone);
  if (known !== undefined) {
    return known;
  }
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const shown = new Map<number, Wall>();
  const clock = (instant: number): Wall => {
    let wall = shown.get(instant);
    if (wall === undefined) {
      const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = format
        .format(instant)
        .split(/\D+/)
        .map(Number);
      wall = wallOf(Date.UTC(year, month - 1, day, hour, minute) / minuteMs);
      shown.set(instant, wall);
    }
    return wall;
  };
  clocks.set(timezone, clock);
  return clock;
}

const clocks = new Map<string, (instant: number) => Wall>();
