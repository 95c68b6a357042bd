/** `svc serve` on a data folder that other servers use too. */
import { parseArgs } from "node:util";
import { serve } from "../../server/main.ts";

const { values } = parseArgs({
  options: { port: { type: "string" }, data: { type: "string" } },
});
process.exit(await serve({ port: Number(values.port), dataDir: values.data }, { shared: true }));
