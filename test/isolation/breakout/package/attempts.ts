/** What all subjects of breakout attempts share. Runs inside the runner, as users' code. */
import fs from "node:fs";
import { dlopen } from "./native-library.ts";

export interface Target {
  /** A folder outside the package, of this attempt only: the files `secret` and `secret.json`. */
  outside: string;
  /** The process of this attempt only, which must survive; 0 for subjects that need none. */
  pid: number;
  /** A process that runs as long as the tests, with the prize in its environment. */
  serverPid: number;
  /** A port on 127.0.0.1 that answers every HTTP request with the prize. */
  port: number;
  /** A Unix socket that answers every HTTP request with the prize. */
  socket: string;
  /** The package and the scratch folder of another deployment. */
  otherPackage: string;
  otherScratch: string;
}

/**
 * Tries to reach something outside the runner. A thrown error counts as *refused*, a text with the prize, or a change of
 * the folder or the process of the target, as *open*, and everything else as *contained*.
 */
export type Attempt = (target: Target) => unknown;

/** The runtime does not have the feature. */
export class Absent extends Error {}

export function absent(condition: boolean): void {
  if (condition) throw new Absent("absent");
}

export const onNode: boolean = process.versions.bun === undefined && process.versions.deno === undefined;
export const onBun: boolean = process.versions.bun !== undefined;
export const onDeno: boolean = process.versions.deno !== undefined;

/** A member of a value whose type does not declare it; the attempt is absent without it. */
export function member<Type>(owner: unknown, name: string): Type {
  const value = (owner as Record<string, unknown> | undefined)?.[name];
  absent(value === undefined || value === null);
  return value as Type;
}

export const deno = <Type>(name: string): Type => member(member(globalThis, "Deno"), name);
export const bun = <Type>(name: string): Type => member(member(globalThis, "Bun"), name);

export const read = (path: string): string => fs.readFileSync(path, "utf8");

/** Calls a function of the C library. Numbers are passed as 64-bit integers, texts as C strings. */
export function libc(name: string, ...values: (number | string)[]): number {
  return dlopen(name, values);
}

/** Throws for the -1 by which the C library reports errors. */
export function syscall(name: string, ...values: (number | string)[]): number {
  const result = libc(name, ...values);
  if (result === -1) throw new Error(`${name} failed`);
  return result;
}

export interface Result {
  state: "refused" | "returned" | "absent";
  text: string;
}

/** The agent of a subject. */
export type Agent = (input: { targets: Record<string, Target> }) => Promise<Record<string, Result>>;

export function subject(attempts: Record<string, Attempt>): Agent {
  return async ({ targets }) => {
    const results: Record<string, Result> = {};
    for (const [name, target] of Object.entries(targets)) {
      const attempt = attempts[name];
      if (attempt !== undefined) results[name] = await run(attempt, target);
    }
    return results;
  };
}

async function run(attempt: Attempt, target: Target): Promise<Result> {
  try {
    const value = await Promise.race([attempt(target), late()]);
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? typeof value);
    return { state: "returned", text: text.slice(0, 2000) };
  } catch (error) {
    const text = String((error as Error | undefined)?.message ?? error);
    return { state: error instanceof Absent ? "absent" : "refused", text: text.slice(0, 300) };
  }
}

/** An attempt that never ends counts as refused. */
function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error("it did not end")), 3000).unref();
  });
}
