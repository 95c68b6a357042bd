/** Resolves names for runners without stalling the server. */
import { lookup } from "node:dns/promises";

/** A lookup occupies one of the four threads that also read files, and may take as long as a slow DNS server wants. */
const maxLookups = 2;

let running = 0;
const waiting: (() => void)[] = [];

/** The lookups of one runner, which run one after another, so that a runner cannot occupy all places. */
export class NameLookup {
  #last: Promise<unknown> = Promise.resolve();

  /** @returns the addresses of a name; rejects when it cannot be resolved */
  resolve(name: string): Promise<string[]> {
    const result = this.#last.then(() => lookupLimited(name));
    this.#last = result.catch(() => {});
    return result;
  }
}

async function lookupLimited(name: string): Promise<string[]> {
  if (running === maxLookups) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } finally {
    // The place goes to the next lookup, if one waits.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
