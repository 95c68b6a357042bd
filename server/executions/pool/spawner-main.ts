/**
 * The process behind `Spawner`: starts what it is asked to, hands over the pipes, and tells of each process's end. It
 * ends with its server; what it has started notices that by itself.
 */
import type { Socket } from "node:net";
import type { SpawnRequest } from "./spawn.ts";
import { pipes, startWithPipes } from "./spawn.ts";
import type { SpawnerMessage } from "./spawner.ts";

interface Handle {
  readStop?(): void;
}

process.on("message", ({ id, request }: { id: number; request: SpawnRequest }) => {
  const send = (message: SpawnerMessage, socket?: Socket): void => void process.send?.(message, socket);
  const child = startWithPipes(request);
  child.once("error", ({ message }) => send({ id, error: message }));
  child.once("spawn", () => {
    for (const index of pipes.keys()) {
      const socket = child.stdio[index] as Socket;
      // A socket reads from its beginning; what this one read would be lost to the server.
      (socket as unknown as { _handle?: Handle })._handle?.readStop?.();
      send({ id, pid: child.pid ?? 0, pipe: index }, socket);
    }
  });
  child.once("exit", (code, signal) => send({ id, code, signal }));
});
process.on("disconnect", () => process.exit());
