/**
 * The process behind `Spawner`: starts what it is asked to, hands over the pipes, and tells of each process's end. It
 * ends with its server; what it has started notifier that by itself.
 */
import type { Socket } from "node:net";
import type { SpawnRequest } from "./spawn.ts";
import { pipes, startWithPipes } from "./spawn.ts";
import type { SpawnerMessage } from "./spawner.ts";

/** How often it is looked whether the server is there: its end is not told while a pipe is being handed over. */
const lookMs = 500;

interface Handle {
  readStop?(): void;
}

process.on("message", ({ id, request }: { id: number; request: SpawnRequest }) => {
  try {
    start(id, request);
  } catch (error) {
    // Some failures of the operating system are thrown: for want of memory, for example.
    send({ id, error: error instanceof Error ? error.message : String(error) });
  }
});

function start(id: number, request: SpawnRequest): void {
  const runner = startWithPipes(request);
  runner.once("error", ({ message }) => send({ id, error: message }));
  runner.once("spawn", () => {
    for (const index of pipes.keys()) {
      const socket = runner.stdio[index] as Socket;
      // A socket reads from its beginning; what this one read would be lost to the server.
      (socket as unknown as { _handle?: Handle })._handle?.readStop?.();
      send({ id, pid: runner.pid ?? 0, pipe: index }, socket);
    }
  });
  runner.once("exit", (code, signal) => send({ id, code, signal }));
}

function send(message: SpawnerMessage, socket?: Socket): void {
  process.send?.(message, socket);
}

process.on("disconnect", () => process.exit());
setInterval(() => {
  if (!process.connected) process.exit();
}, lookMs);
