/** Random cron expressions and instants from a seed, the same on every runtime. */
import { parseCron } from "../../project/cron.ts";
import { isFuzzing } from "../support/rounds.ts";

/** Returns numbers from 0 to 1, 1 excluded, of the generator "mulberry32". */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `CRON_SEED` if it is set, to repeat a run; otherwise random in `npm run test:fuzz`, and the same in `npm test`. */
export const seed: number = Number(
  process.env.CRON_SEED ?? (isFuzzing ? Math.floor(Math.random() * 2 ** 31) : 1),
);

/** A whole number from `low` to `high`, both included. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[between(random, 0, items.length - 1)];
  if (item === undefined) {
    throw new Error("Cannot pick from an empty list.");
  }
  return item;
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Five fields of every allowed form. Some name a date that does not exist. */
export function randomExpression(random: Random): string {
  return [
    field(random, 0, 59, [], 0.2),
    field(random, 0, 23, [], 0.3),
    field(random, 1, 31, [], 0.5),
    field(random, 1, 12, monthNames, 0.6),
    field(random, 0, 7, weekdayNames, 0.5),
  ].join(" ");
}

/** The next random expression that is valid. */
export function validExpression(random: Random): string {
  for (;;) {
    const expression = randomExpression(random);
    try {
      parseCron(expression);
      return expression;
    } catch (error) {
      if (!String(error).includes("does not exist")) {
        throw error;
      }
    }
  }
}

function field(random: Random, low: number, high: number, names: string[], stars: number): string {
  if (random() < stars) {
    return "*";
  }
  const items = random() < 0.65 ? 1 : between(random, 2, 4);
  return Array.from({ length: items }, () => item(random, low, high, names)).join(",");
}

function item(random: Random, low: number, high: number, names: string[]): string {
  const form = random();
  const most = high === 7 ? 7 : high - low + 1;
  if (form < 0.2) {
    return `*/${between(random, 1, random() < 0.8 ? Math.min(most, 12) : most)}`;
  }
  const from = between(random, low, high);
  if (form < 0.65) {
    return value(random, from, low, names);
  }
  const to = between(random, from, high);
  const range = `${value(random, from, low, names)}-${value(random, to, low, names)}`;
  return form < 0.85 ? range : `${range}/${between(random, 1, most)}`;
}

function value(random: Random, number: number, low: number, names: string[]): string {
  const name = names[number - low];
  if (name !== undefined && random() < 0.4) {
    return [...name].map((letter) => (random() < 0.3 ? letter.toUpperCase() : letter)).join("");
  }
  return random() < 0.1 ? String(number).padStart(2, "0") : String(number);
}

/** Zones without clock changes, of both hemispheres, and with changes of half an hour, of two hours and at midnight. */
export const sampleZones: readonly string[] = [
  "UTC",
  "Europe/Berlin",
  "Europe/London",
  "America/New_York",
  "America/St_Johns",
  "America/Santiago",
  "America/Asuncion",
  "America/Havana",
  "America/Sao_Paulo",
  "Africa/Cairo",
  "Africa/Johannesburg",
  "Asia/Beirut",
  "Asia/Jerusalem",
  "Asia/Kolkata",
  "Asia/Tokyo",
  "Antarctica/Troll",
  "Australia/Lord_Howe",
  "Australia/Sydney",
  "Pacific/Auckland",
  "Pacific/Chatham",
];
