/** Commands for tests that do not depend on the process of a command. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment, commandOf, type Runtime, root } from "../support/runtimes.ts";
import type { HostedCommand, HostedResult } from "./command-host.ts";
import { type Options, type Result, svc } from "./process.ts";

/**
 * Runs a command for a test that does not depend on its process. `npm test` runs such commands in one process for each test
 * file, and `npm run test:runtimes` each in its own. Commands that are waited for by their output, that stay, or that begin
 * while another runs have their own process in any case.
 */
export function command(runtime: Runtime, args: readonly string[], options: Options = {}): Promise<Result> {
  const stays = ["serve", "dev", "mcp", "admin"].includes(args[0] ?? "");
  if (process.env.ALL_RUNTIMES !== undefined || stays || options.onOutput !== undefined || isHostBusy)
    return svc(runtime, args, options);
  return hosted(runtime, {
    args,
    cwd: options.cwd ?? tmpdir(),
    env: { ...bareEnvironment(), ...options.env },
    input: Buffer.from(options.input ?? "").toString("base64"),
  });
}

const hosts = new Map<Runtime, ChildProcess>();
let isHostBusy = false;

async function hosted(runtime: Runtime, message: HostedCommand): Promise<Result> {
  isHostBusy = true;
  try {
    const host = hosts.get(runtime) ?? startHost(runtime);
    hosts.set(runtime, host);
    const ended = new AbortController();
    const failed = once(host, "exit", ended).then(([code]) => {
      hosts.delete(runtime);
      throw new Error(`The process of the commands ended with ${code} in \`svc ${message.args.join(" ")}\`.`);
    });
    const answered = once(host, "message", ended) as Promise<[HostedResult]>;
    host.send(message);
    const [result] = await Promise.race([answered, failed]);
    answered.catch(() => {});
    failed.catch(() => {});
    ended.abort();
    return result;
  } finally {
    isHostBusy = false;
  }
}

function startHost(runtime: Runtime): ChildProcess {
  const [program, ...before] = commandOf(runtime);
  const child = spawn(program, [...before, join(root, "test/cli/command-host.ts")], {
    cwd: tmpdir(),
    env: bareEnvironment(),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}
