/** Processes started from the helper: as those started from here, and what happens when the helper ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type Spawn, type SpawnedProcess, spawnHere } from "../../server/executions/pool/spawn.ts";
import { Spawner } from "../../server/executions/pool/spawner.ts";

function newSpawner(): Spawner {
  const spawner = new Spawner();
  onTestFinished(() => spawner.close());
  return spawner;
}

const run = (spawn: Spawn, script: string): Promise<SpawnedProcess> =>
  spawn({ command: "/bin/sh", args: ["-c", script], cwd: tmpdir(), env: { GREETING: "hello" } });

const exitOf = ({ onExit }: SpawnedProcess): Promise<unknown[]> =>
  new Promise((resolve) => onExit((...exit) => resolve(exit)));

test.each(["from here", "from the helper"])(
  "%s: every pipe, the environment, the folder and the end",
  async (where) => {
    const spawner = newSpawner();
    const spawn: Spawn = where === "from here" ? spawnHere : (request) => spawner.spawn(request);
    const script = 'echo "$GREETING" "$(pwd)"; echo wrong >&2; read line <&3; echo "got $line" >&3; exit 7';
    const child = await run(spawn, script);
    child.channel.write("one\n");
    const said = await Promise.all([child.stdout, child.stderr, child.channel].map((pipe) => text(pipe)));
    expect(said).toEqual([`hello ${tmpdir()}\n`, "wrong\n", "got one\n"]);
    expect(await exitOf(child)).toEqual([7, null]);
    // Whoever asks late is told, too.
    expect(await exitOf(child)).toEqual([7, null]);
  },
);

test("nothing that is written before the pipes are handed over is lost", async () => {
  const spawner = newSpawner();
  const all = Array.from({ length: 40 }, async (_, n) => {
    const child = await run((request) => spawner.spawn(request), `echo ${n}; head -c 100000 /dev/zero >&3`);
    const [line, zeros] = await Promise.all([text(child.stdout), text(child.channel)]);
    return [line, zeros.length];
  });
  expect(await Promise.all(all)).toEqual(Array.from({ length: 40 }, (_, n) => [`${n}\n`, 100_000]));
});

test("a process is the leader of its group, and its end by a signal is told", async () => {
  const spawner = newSpawner();
  const child = await run((request) => spawner.spawn(request), "sleep 100 & echo up; wait");
  await once(child.stdout, "data");
  process.kill(-child.pid, "SIGKILL");
  expect(await exitOf(child)).toEqual([null, "SIGKILL"]);
});

test("a command that is not there is refused, and the next one runs", async () => {
  const spawner = newSpawner();
  const request = { command: "/nowhere/at/all", args: [], cwd: tmpdir(), env: {} };
  await expect(spawner.spawn(request)).rejects.toThrow(/Cannot start a process: .*ENOENT/);
  expect(await exitOf(await run((one) => spawner.spawn(one), "exit 0"))).toEqual([0, null]);
});

test("what cannot even be tried is refused, and harms nothing that runs", async () => {
  const spawner = newSpawner();
  const running = await run((one) => spawner.spawn(one), "read line; exit 4");
  const long = "x".repeat(3_000_000);
  await expect(
    spawner.spawn({ command: "/bin/sh", args: ["-c", "exit 0", long], cwd: tmpdir(), env: {} }),
  ).rejects.toThrow(/Cannot start a process: .*E2BIG/);
  running.stdin.end("go\n");
  expect(await exitOf(running)).toEqual([4, null]);
});

test("when the helper is killed, what it has started ends and is told so, and another takes over", async () => {
  const spawner = newSpawner();
  const child = await run((request) => spawner.spawn(request), "ps -o ppid= -p $$; exec sleep 100");
  const [parent] = await once(child.stdout, "data");
  process.kill(Number(parent), "SIGKILL");
  expect(await exitOf(child)).toEqual([null, "SIGKILL", "the process that starts others has ended"]);
  expect(await exitOf(await run((one) => spawner.spawn(one), "exit 3"))).toEqual([3, null]);
});

test("once closed it starts nothing, and what it has started ends", async () => {
  const spawner = newSpawner();
  const child = await run((request) => spawner.spawn(request), "exec sleep 100");
  spawner.close();
  await expect(run((one) => spawner.spawn(one), "exit 0")).rejects.toThrow("closing");
  expect(await exitOf(child)).toEqual([null, "SIGKILL", "the process that starts others has ended"]);
});

test("when its server is killed, the helper ends, also while it hands pipes over", async () => {
  const victim = spawn(process.execPath, [fileURLToPath(new URL("spawner-victim.ts", import.meta.url))]);
  const [helper] = (await text(victim.stdout)).split("\n");
  expect(Number(helper)).toBeGreaterThan(1);
  await expect.poll(() => existsSync(`/proc/${helper}`), { interval: 50, timeout: 10_000 }).toBe(false);
});
