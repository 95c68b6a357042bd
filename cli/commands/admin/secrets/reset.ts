import { withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { dataFolder, force, json } from "../../../app/options.ts";
import { confirm } from "../../../terminal/confirm.ts";
import { count } from "../../../terminal/format.ts";
import { printJson } from "../../../terminal/output.ts";
import { report } from "../../../terminal/report.ts";

export default command({
  details:
    "Use this when the master key is lost. The service must be stopped. It accepts another master key afterwards.",
  args: { ...dataFolder, ...force, ...json },
  async run(values) {
    await confirm("Delete the secrets of all organizations?", values);
    const deleted = await withStore(values.data, (admin) => admin.resetSecrets());
    if (values.json) return printJson({ secrets: deleted });
    report.success(`Deleted ${count(deleted.length, "secret")}.`);
    for (const { org_id, name } of deleted) report.line(`  ${org_id} ${name}`);
  },
}) as Command;
