/** Runs the limit program and the load in child processes of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { LoadOptions, LoadResult } from "./load.ts";

export interface LimitProgram {
  url: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

/** @param folder - holds its database, `limit.db` */
export function startLimitProgram(folder: string): Promise<LimitProgram> {
  return start("program.ts", folder);
}

/** The limit program with a handler in a child process. @param folder - holds its database */
export function startDispatchProgram(folder: string): Promise<LimitProgram> {
  return start("dispatch.ts", folder);
}

async function start(program: string, folder: string): Promise<LimitProgram> {
  const child = spawn(process.execPath, [path(program), folder], { stdio: ["pipe", "pipe", "inherit"] });
  const [url] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`Cannot start the limit program: it ended with ${code}.`);
    }),
  ]);
  return { url, child, stop: () => stop(child) };
}

/**
 * Runs the load in a child process.
 *
 * @throws Error when a response was lost or had another status: such a measurement is invalid
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { url, moreUrls = [], headers } = options;
  const { connections, seconds, warmupSeconds, bodyBytes, ratePerSecond, expect, body, digits } = options;
  const flags = {
    connections,
    seconds,
    warmup: warmupSeconds,
    bytes: bodyBytes,
    rate: ratePerSecond,
    expect,
    body,
    digits,
  };
  const args = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `--header=${name}: ${value}`);
  const child = spawn(process.execPath, [path("cli.ts"), url, ...moreUrls, ...args, ...lines], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0)
    throw new Error(`Cannot measure ${url}: every response must have the expected status: ${output}`);
  return JSON.parse(output);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.stdin?.end();
  await exit;
}

function path(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
