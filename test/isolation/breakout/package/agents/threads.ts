import EventEmitter from "node:events";
import module from "node:module";
import workers from "node:worker_threads";
import { type Agent, type Attempt, absent, onBun, subject } from "../attempts.ts";

/** What a thread does: read the secret with whatever permissions it has, and report. */
const code = (outside: string): string => `
const report = (text) => globalThis.postMessage ? globalThis.postMessage(text) : require("node:worker_threads").parentPort.postMessage(text);
try { report(process.getBuiltinModule("node:fs").readFileSync(${JSON.stringify(`${outside}/secret`)}, "utf8")); }
catch (error) { report("no file: " + error.code); }
`;

function reportOf(worker: workers.Worker): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    worker.on("message", resolve).on("error", reject);
    worker.on("exit", () => reject(new Error("exited")));
  }).finally(() => void worker.terminate());
}

export const attempts: Record<string, Attempt> = {
  "a worker thread": ({ outside }) => reportOf(new workers.Worker(code(outside), { eval: true })),
  "a worker thread without the permission model": ({ outside }) =>
    reportOf(new workers.Worker(code(outside), { eval: true, execArgv: ["--no-permission"] })),
  "a worker thread of a required module": ({ outside }) => {
    const { Worker } = module.createRequire(import.meta.url)("node:worker_threads");
    return reportOf(new Worker(code(outside), { eval: true }));
  },
  "a web worker": ({ outside }) => {
    absent(typeof Worker === "undefined");
    const worker = new Worker(`data:text/javascript,${encodeURIComponent(code(outside))}`, {
      type: "module",
    });
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
    }).finally(() => worker.terminate());
  },
  // A thread of the runner that starts after users' code has loaded would tell its class to a patched emitter.
  "the class of a captured worker": async ({ outside }) => {
    const { emit } = EventEmitter.prototype;
    const seen = new Set<unknown>();
    EventEmitter.prototype.emit = function capture(this: EventEmitter, ...values: never) {
      seen.add(this.constructor);
      return emit.apply(this, values);
    } as typeof emit;
    console.log("something to send");
    await new Promise((resolve) => setTimeout(resolve, 300));
    EventEmitter.prototype.emit = emit;
    const found = [...seen].find((type) => (type as { name: string }).name === "Worker");
    if (found === undefined) throw new Error("no worker seen");
    return reportOf(new (found as typeof workers.Worker)(code(outside), { eval: true, execArgv: [] }));
  },
  "a thread of module hooks": () => {
    absent(typeof module.register !== "function" || onBun);
    module.register("data:text/javascript,export {}");
    return "started";
  },
};

const agent: Agent = subject(attempts);
export default agent;
