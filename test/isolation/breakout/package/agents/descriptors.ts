import fs from "node:fs";
import { type Agent, type Attempt, libc, subject } from "../attempts.ts";

const inherited = Array.from({ length: 400 }, (_, fd) => fd).filter((fd) => fd > 3);

function firstOf(paths: readonly string[], use: (path: string) => string): string {
  const errors: unknown[] = [];
  for (const path of paths) {
    try {
      return use(path);
    } catch (error) {
      errors.push(error);
    }
  }
  throw errors[0] ?? new Error("nothing found");
}

export const attempts: Record<string, Attempt> = {
  "an inherited file by its number": () => firstOf(inherited.map(String), (fd) => readPrize(Number(fd))),
  "an inherited folder in /proc/self/fd": ({ outside }) =>
    firstOf(
      inherited.map((fd) => `/proc/self/fd/${fd}/../../../../..${outside}/secret`),
      (path) => fs.readFileSync(path, "utf8"),
    ),
  "a folder that process 1 has open": ({ outside }) =>
    firstOf(
      fs.readdirSync("/proc/1/fd").map((fd) => `/proc/1/fd/${fd}/../../../../..${outside}/secret`),
      (path) => fs.readFileSync(path, "utf8"),
    ),
  "an inherited folder for openat()": ({ outside }) =>
    firstOf(inherited.map(String), (fd) => {
      const file = libc("openat", Number(fd), `../../../../..${outside}/secret`, 0);
      if (file < 0) throw new Error("openat failed");
      return fs.readFileSync(file, "utf8");
    }),
};

function readPrize(fd: number): string {
  if (!fs.fstatSync(fd).isFile()) throw new Error("not a file");
  const bytes = Buffer.alloc(100);
  const text = bytes.toString("utf8", 0, fs.readSync(fd, bytes, 0, 100, 0));
  if (!text.includes("TOP SECRET")) throw new Error("a file of the runner itself");
  return text;
}

const agent: Agent = subject(attempts);
export default agent;
