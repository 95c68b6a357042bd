import { withStore } from "../../api/admin-store.ts";
import { type Command, command } from "../../app/command.ts";
import { dataFolder, force, json } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { count } from "../../terminal/format.ts";
import { printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";

export default command({
  details:
    "Encrypts all secrets with a new key, while the server runs or not. The new key becomes `master.key` of the data folder; the former one remains as `master.key.<id>`, because earlier backups need it. With SVC_MASTER_KEY, first restart all servers with the new key in SVC_MASTER_KEY and the former one in SVC_MASTER_KEY_PREVIOUS, and run the command with the same variables. After an interruption, run it again.",
  args: { ...dataFolder, ...force, ...json },
  examples: [["svc admin rotate-master-key --data .svc", "Replace the key in the data folder"]],
  async run(values) {
    const variable = process.env.SVC_MASTER_KEY || undefined;
    const previous = process.env.SVC_MASTER_KEY_PREVIOUS || undefined;
    const question =
      variable === undefined
        ? "Replace the master key in the data folder?"
        : "Have all servers been restarted with both variables?";
    await confirm(question, values);
    const { from, to, resealed, unreadable } = await withStore(values.data, (admin) =>
      admin.rotateMasterKey({ variable, previous }),
    );
    if (values.json) return printJson({ former_key: from, key: to, secrets: resealed, unreadable });
    report.success(
      `The master key is ${to} now, and was ${from}: encrypted ${count(resealed, "secret")} with it.`,
    );
    for (const { org_id, name } of unreadable) {
      report.warning(`No known key opens the secret ${name} of ${org_id}: set it again.`);
    }
    if (variable !== undefined) {
      report.hint(
        "Remove SVC_MASTER_KEY_PREVIOUS at the next restart. Keep the former key for earlier backups.",
      );
    } else {
      report.hint(
        `Move master.key.${from} to a safe place: earlier backups need it. Back up the new master.key.`,
      );
    }
  },
}) as Command;
