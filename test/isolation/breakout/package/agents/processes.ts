import cp from "node:child_process";
import { type Agent, type Attempt, absent, bun, deno, onBun, subject, syscall } from "../attempts.ts";

interface Spawned {
  stdout: Uint8Array;
}

export const attempts: Record<string, Attempt> = {
  execSync: ({ outside }) => cp.execSync(`cat '${outside}/secret'`).toString(),
  spawnSync: ({ outside }) => output(cp.spawnSync("cat", [`${outside}/secret`])),
  "spawnSync of the runtime itself": () => output(cp.spawnSync(process.execPath, ["--version"])),
  spawn: () =>
    new Promise((resolve, reject) => {
      cp.spawn("true")
        .on("spawn", () => resolve("TOP SECRET"))
        .on("error", reject);
    }),
  fork: () =>
    new Promise((resolve, reject) => {
      const child = cp.fork(import.meta.filename, { stdio: "ignore" });
      child.on("error", reject).on("spawn", () => {
        child.kill("SIGKILL");
        resolve("TOP SECRET");
      });
    }),
  "an internal binding": ({ outside }) => {
    const { spawn } = (process as unknown as { binding(name: string): Handle }).binding("spawn_sync");
    const { output: streams } = spawn({
      file: "/bin/cat",
      args: ["cat", `${outside}/secret`],
      stdio: [
        { type: "pipe", readable: true, writable: true },
        { type: "pipe", writable: true },
      ],
    }) as { output: [unknown, Uint8Array] };
    return Buffer.from(streams[1]).toString();
  },
  "process.execve": () => {
    absent(typeof process.execve !== "function" || onBun);
    // It ends the process where it succeeds, and so cannot run in the process without a boundary.
    absent(process.env.CONTROL !== undefined);
    return process.execve?.("/bin/true", ["true"], {});
  },
  "Bun.spawn": () => {
    const run = bun<(command: string[]) => { exited: Promise<number> }>("spawn");
    return run(["/bin/true"]).exited.then(() => "TOP SECRET");
  },
  "Bun.spawnSync": ({ outside }) => {
    const run = bun<(command: string[]) => Spawned>("spawnSync");
    return Buffer.from(run(["cat", `${outside}/secret`]).stdout).toString();
  },
  "the shell of Bun": async ({ outside }) => {
    const shell = bun<(parts: readonly string[], ...values: string[]) => { text(): Promise<string> }>("$");
    const text = await shell`cat ${`${outside}/secret`}`.text();
    if (text === "") throw new Error("no output");
    return text;
  },
  "Deno.Command": ({ outside }) => {
    const Command = deno<new (name: string, options: object) => { outputSync(): Spawned }>("Command");
    return Buffer.from(new Command("cat", { args: [`${outside}/secret`] }).outputSync().stdout).toString();
  },
  "system() of the C library": () => {
    if (syscall("system", "exit 7") >> 8 !== 7) throw new Error("no process");
    return "TOP SECRET";
  },
};

interface Handle {
  spawn(options: object): unknown;
}

function output({ error, stdout }: { error?: Error; stdout: Uint8Array | null }): string {
  if (error) throw error;
  // Deno returns nothing for a process that it may not start.
  if (stdout === undefined) throw new Error("no process");
  return `${Buffer.from(stdout ?? []).toString()} TOP SECRET`;
}

const agent: Agent = subject(attempts);
export default agent;
