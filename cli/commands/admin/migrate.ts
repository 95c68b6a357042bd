import { withStore } from "../../api/admin-store.ts";
import { type Command, command } from "../../app/command.ts";
import { dataFolder, json } from "../../app/options.ts";
import { printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";

export default command({
  details:
    "Brings the store to the schema of this version. `svc serve` does the same when it starts. Servers of the previous version may run meanwhile.",
  args: { ...dataFolder, ...json },
  async run(values) {
    const version = await withStore(values.data, (admin) => admin.schemaVersion());
    if (values.json) return printJson({ schema_version: version });
    report.success(`The store has schema version ${version}.`);
  },
}) as Command;
