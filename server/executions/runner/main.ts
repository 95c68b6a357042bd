/**
 * The main program of a runner: receives attempts from the server through the channel, and sends their outcomes.
 *
 * The guard is in place before any of users' code is loaded.
 */
import { openChannel, runtime, timerErrorsKeepContext } from "../../runtime.ts";
import { Attempts } from "./attempts.ts";
import { Channel } from "./channel.ts";
import { egressVariable, openEgress } from "./guard/egress.ts";
import { guardProcess } from "./guard/index.ts";
import { captureConsole } from "./lines/console.ts";
import { captureStreams } from "./lines/streams.ts";
import { Modules } from "./modules.ts";
import type { ToRunner } from "./protocol.ts";
import { loadStrippedModules } from "./stripped-modules.ts";
import { keepTimerContext } from "./timers.ts";

const egress = process.env[egressVariable];
delete process.env[egressVariable];
if (egress !== undefined) await openEgress(egress);

const socket = openChannel();
const endProcess = await guardProcess(egress === undefined ? socket : null);
const channel = new Channel(socket, { onMessage, onEnd: endProcess });
let attempts: Attempts | undefined;

channel.send({ t: "ready" });

function onMessage(message: ToRunner): void {
  if (message.t === "init") attempts = start(message);
  else if (message.t === "ping") channel.sendNow({ t: "pong", n: message.n });
  else attempts?.receive(message);
}

function start({ directory, limits, tracing }: Extract<ToRunner, { t: "init" }>): Attempts {
  if (runtime.name === "node") loadStrippedModules(directory);
  const started = new Attempts(channel, directory, new Modules(directory), limits, tracing);
  captureConsole(started);
  captureStreams(started);
  process.on("uncaughtException", (error) => started.uncaught(error));
  process.on("unhandledRejection", (reason) => started.unhandled(reason));
  if (!timerErrorsKeepContext) keepTimerContext((error) => started.uncaught(error));
  return started;
}
