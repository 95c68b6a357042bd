/**
 * The boundary around runners: which runtime they use, and what keeps users' code from the rest of the machine.
 *
 * Glossary: a boundary *holds* when it is meant to stop malicious code: Deno's permissions, or bubblewrap around any
 * runtime. Node's permission model alone does not hold, as its documentation states, and Bun has none.
 */
import type { RunnerNetwork } from "../../config/runner-network.ts";
import { type RuntimeName, runtime } from "../../runtime.ts";

export interface Boundary {
  runtime: RuntimeName;
  /** The runtime's program. */
  binary: string;
  /** The runtime's version, for example `24.21.0`. */
  version: string;
  /** The program `bwrap`; null runs without a sandbox. */
  bwrap: string | null;
  /** Why there is no sandbox, without a full stop; null when there is one. */
  withoutSandbox: string | null;
  network: RunnerNetwork;
  /** Size limit of a runner's scratch folder, where the boundary enforces it. */
  scratchBytes: number;
}

export const defaultScratchBytes: number = 64 * 1024 ** 2;

/** The boundary of a process that runs its own user's code only: the same runtime, no sandbox, any network. */
export const ownBoundary: Boundary = {
  runtime: runtime.name,
  binary: process.execPath,
  version: runtime.version,
  bwrap: null,
  withoutSandbox: "the project is run by its own author",
  network: "all",
  scratchBytes: defaultScratchBytes,
};

/** Whether the boundary stops malicious code. */
export function holds({ runtime: name, bwrap }: Boundary): boolean {
  return name === "deno" || bwrap !== null;
}

/** Whether the boundary can restrict which hosts a runner reaches. */
export const enforcesNetwork: (boundary: Boundary) => boolean = holds;

/** One line for messages, for example `deno 2.9.5, bubblewrap and Deno permissions`. */
export function describeBoundary(boundary: Boundary): string {
  const permissions = { deno: ["Deno permissions"], node: ["Node permission model"], bun: [] };
  const parts = [...(boundary.bwrap === null ? [] : ["bubblewrap"]), ...permissions[boundary.runtime]];
  return `${boundary.runtime} ${boundary.version}, ${parts.join(" and ") || "no sandbox"}`;
}
