/** Starts and stops a server that listens. */
import type { AddressInfo, Server } from "node:net";
import { StartError } from "../errors.ts";
import { log } from "../telemetry/log/index.ts";

export function listening(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenError(error, port, host));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      // Without file descriptors `accept` fails; the server continues with the connections that it has.
      server.on("error", logAcceptError());
      resolve((server.address() as AddressInfo).port);
    });
  });
}

const logIntervalMs = 60_000;

function logAcceptError(): (error: Error) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now - lastMs < logIntervalMs) return;
    lastMs = now;
    log.error("Cannot accept a connection", { reason: error.message });
  };
}

const foreignAddress = [
  "this machine does not have the address",
  "Pass an address of this machine with --host, for example 127.0.0.1, or 0.0.0.0 for all of them.",
] as const;

const listenProblems: Record<string, readonly [problem: string, advice: string]> = {
  EADDRINUSE: [
    "another process uses the port",
    "Stop that process, or choose another port with --port; 0 picks a free one.",
  ],
  EACCES: ["this user may not use the port", "Choose a port of at least 1024 with --port."],
  EADDRNOTAVAIL: foreignAddress,
  // Deno's code for the same.
  EINVAL: foreignAddress,
};

function listenError(error: NodeJS.ErrnoException, port: number, host: string): StartError {
  const [problem, advice] = listenProblems[error.code ?? ""] ?? [error.message, "Check --host and --port."];
  return new StartError(`Cannot listen on ${host}:${port}: ${problem}.`, advice, error);
}

/** @param closeIdle - closes the connections without a request in progress */
export function drain(server: Server, closeIdle: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    closeIdle();
  });
}
