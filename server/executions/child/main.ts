/**
 * The process that runs users' code. It takes jobs from the server through its channel and answers there.
 *
 * Whatever is taken from users' code is taken before any of it is loaded.
 */
import { Worker } from "node:worker_threads";
import { openChannel } from "../../runtime.ts";
import { Channel } from "./channel.ts";
import { captureConsole } from "./console.ts";
import { Executions } from "./executions.ts";
import { guardProcess } from "./guard.ts";
import { Modules } from "./modules.ts";
import type { ToChild } from "./protocol.ts";

new Worker(new URL(import.meta.url.endsWith(".ts") ? "./watchdog.ts" : "./watchdog.js", import.meta.url));

const endProcess = guardProcess();
const channel = new Channel(openChannel(), { onMessage, onEnd: endProcess });
let executions: Executions | undefined;

channel.send({ t: "ready" });

function onMessage(message: ToChild): void {
  if (message.t === "init") {
    const modules = new Modules(message.directory);
    executions = new Executions(channel, modules, message.directory, message.limits);
    captureConsole(executions);
    return;
  }
  if (message.t === "ping") channel.send({ t: "pong" });
  else executions?.take(message);
}
