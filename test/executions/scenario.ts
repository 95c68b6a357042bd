/** A scenario runs in a process of the tested runtime. The test checks its result. */
import type { ExpectStatic } from "vitest";
import type { PoolLimits } from "../../server/executions/pool/index.ts";
import type { RuntimeName } from "../../server/runtime.ts";
import { Lab } from "./lab.ts";

export interface Scenario {
  name: string;
  /** The result does not depend on the runtime of the runners. */
  ofPool?: boolean;
  run(): Promise<Report>;
  check(found: unknown, expect: ExpectStatic, runtime: RuntimeName): void;
}

export interface Report {
  found: unknown;
  /** Errors, reasons and logs from the pool, without the outputs of users' code. */
  said: string;
  /** Folders of the server. */
  folders: string[];
}

/**
 * @param check - gets the result of `run`, serialized as JSON and parsed
 */
export function scenario<Found>(
  name: string,
  run: (lab: Lab) => Promise<Found>,
  check: (found: Found, expect: ExpectStatic, runtime: RuntimeName) => void,
  limits: Partial<PoolLimits> = {},
): Scenario {
  return {
    name,
    check: (found, expect, runtime) => check(found as Found, expect, runtime),
    async run() {
      const lab = new Lab(name.replaceAll(/[^a-z]+/gi, "-").slice(0, 30), limits);
      try {
        const found = await run(lab);
        return { found, said: JSON.stringify([lab.outcomes, lab.logs]), folders: [lab.folder] };
      } finally {
        await lab.close();
      }
    },
  };
}

/**
 * A scenario about the pool, or about code of the runner that uses nothing of its runtime. `npm test` runs it on Bun, whose
 * runners start fastest.
 */
export const poolScenario: typeof scenario = (...definition) => ({
  ...scenario(...definition),
  ofPool: true,
});
