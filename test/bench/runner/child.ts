/** The process of one case: `child.ts <name> <options>`. Sends its rows to its parent. */
import { entries } from "../cases/index.ts";
import { type Options, Skip } from "./case.ts";
import type { Outcome } from "./isolated.ts";

const [name = "", options = "{}"] = process.argv.slice(2);
// An exit ends the servers of the case, a signal does not.
process.once("SIGTERM", () => process.exit(1));
const outcome = await run();
process.send?.(outcome, () => process.exit());

async function run(): Promise<Partial<Outcome>> {
  try {
    const found = await entries.find((entry) => entry.name === name)?.load();
    if (found === undefined) throw new Error(`There is no case '${name}'.`);
    return { rows: await found.run(JSON.parse(options) as Options) };
  } catch (error) {
    if (error instanceof Skip) return { skipped: error.message };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
