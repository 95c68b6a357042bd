/**
 * Identifiers: a prefix and 26 lower-case Crockford base32 characters (130 bits).
 *
 * `org_` and `key_` ids are random: an organization's id is part of its webhook URLs and must be unguessable. All other
 * ids begin with 48 bits of Unix milliseconds and increase within a process, so that they sort by time.
 */
import { randomFillSync } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const randomCharacters = 16;

const entropy = new Uint8Array(4096);
let entropyUsed = entropy.length;

function randomByte(): number {
  if (entropyUsed === entropy.length) {
    randomFillSync(entropy);
    entropyUsed = 0;
  }
  return entropy[entropyUsed++] ?? 0;
}

function randomCharacter(): string {
  return alphabet[randomByte() & 31] ?? "0";
}

function randomText(length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) text += randomCharacter();
  return text;
}

export type RandomPrefix = "org" | "key" | "req";
export type OrderedPrefix = "dep" | "exe" | "sch" | "upl" | "dlv" | "srv" | "chk";

/** Creates an unguessable id. */
export function randomId(prefix: RandomPrefix): string {
  return `${prefix}_${randomText(26)}`;
}

let lastMs = -1;
let lastTime = "";
const lastRandom = new Uint8Array(randomCharacters);

/** Creates an id that is greater than all earlier ids of this process. */
export function orderedId(prefix: OrderedPrefix, nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastTime = timeText(nowMs);
    for (let i = 0; i < randomCharacters; i++) lastRandom[i] = randomByte() & 31;
    // Leaves room to increment within the millisecond.
    lastRandom[0] = (lastRandom[0] ?? 0) & 15;
  } else {
    increment();
  }
  let text = `${prefix}_${lastTime}`;
  for (const digit of lastRandom) text += alphabet[digit];
  return text;
}

/** Sorts before every ordered identifier of this time and after all earlier ones. */
export function firstOrderedId(prefix: OrderedPrefix, ms: number): string {
  return `${prefix}_${timeText(ms)}${"0".repeat(randomCharacters)}`;
}

/** The time of an ordered id, in Unix milliseconds. */
export function timeOfId(id: string): number {
  const digits = id.slice(id.indexOf("_") + 1).slice(0, 10);
  return [...digits].reduce((ms, digit) => ms * 32 + Math.max(alphabet.indexOf(digit), 0), 0);
}

/** Adds up to 65,536 at random, so that an id does not reveal the next one. */
function increment(): void {
  let carry = 1 + (randomByte() | (randomByte() << 8));
  for (let i = randomCharacters - 1; i >= 0 && carry > 0; i--) {
    const sum = (lastRandom[i] ?? 0) + carry;
    lastRandom[i] = sum & 31;
    carry = sum >> 5;
  }
}

function timeText(ms: number): string {
  let text = "";
  let rest = ms;
  for (let i = 0; i < 10; i++) {
    text = (alphabet[rest % 32] ?? "0") + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

const idPattern = /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/;

/** Whether a text has the form of an id with this prefix. */
export function isId(prefix: RandomPrefix | OrderedPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && idPattern.test(text);
}
