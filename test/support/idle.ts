/** Connections that stay open between requests. */
import type { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { head } from "./raw.ts";

/** Longer than the 5 s after which `node:http` closes idle connections by default. */
const idleMs = 5_500;

/** Sends two requests on a connection, with a pause between them, and returns their status lines. */
export async function reuseAfterPause(socket: Socket): Promise<string[]> {
  const statuses: string[] = [];
  for (let count = 0; count < 2; count++) {
    if (count > 0) await setTimeout(idleMs);
    const answered = new Promise<string>((resolve, reject) => {
      socket.once("data", (data) => resolve(data.toString("latin1").split("\r\n", 1)[0] ?? ""));
      socket.once("close", () => reject(new Error("The server closed the connection.")));
    });
    socket.write(head("GET /livez"));
    statuses.push(await answered);
  }
  socket.destroy();
  return statuses;
}
