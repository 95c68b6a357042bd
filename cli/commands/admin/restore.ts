import { createReadStream, existsSync } from "node:fs";
import { restoreStore } from "../../api/admin-store.ts";
import { type Command, command } from "../../app/command.ts";
import { UsageError } from "../../app/errors.ts";
import { dataFolder, json } from "../../app/options.ts";
import { count, formatTime } from "../../terminal/format.ts";
import { printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";
import { backupJson, packagesIn } from "../../views/backup.ts";

export default command({
  details:
    "Restores a file of `svc admin backup` into an empty or new data folder. Verifies the size and SHA-256 of every file and the number of rows of every table first: a folder is restored as a whole or not at all. Executions that were running at the backup run again when the server starts.",
  args: {
    file: { type: "positional", description: "The backup, or - for standard input" },
    ...dataFolder,
    ...json,
  },
  examples: [
    ["svc admin restore svc-monday.tar --data .svc", "Restore a backup"],
    ["gunzip -c svc.tar.gz | svc admin restore - --data .svc", "Restore a compressed backup"],
  ],
  async run(values) {
    if (values.file !== "-" && !existsSync(values.file)) {
      throw new UsageError(
        `Cannot read ${values.file}: it does not exist.`,
        "Pass a file of `svc admin backup`.",
      );
    }
    const manifest = await restoreStore(
      () => (values.file === "-" ? process.stdin : createReadStream(values.file)),
      values.data,
    );
    if (values.json) return printJson(backupJson(manifest));
    report.success(
      `Restored the backup of ${formatTime(new Date(manifest.created_at))} by svc ${manifest.svc_version}: ${count(manifest.tables.executions ?? 0, "execution")}, ${count(packagesIn(manifest), "package")}.`,
    );
    if (manifest.packages === "storage") {
      report.warning(
        "The backup contains no packages: start the server with the SVC_STORAGE_URL of the original.",
      );
    }
    if (!manifest.master_key) {
      report.hint(
        "The backup does not contain the master key. Set SVC_MASTER_KEY, or copy master.key into the data folder (mode 600), before the server starts.",
      );
    }
  },
}) as Command;
