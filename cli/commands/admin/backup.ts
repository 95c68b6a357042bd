import { backUpStore } from "../../api/admin-store.ts";
import { type Command, command } from "../../app/command.ts";
import { UsageError } from "../../app/errors.ts";
import { dataFolder, json } from "../../app/options.ts";
import { bytes, count } from "../../terminal/format.ts";
import { printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";
import { backupJson, packagesIn } from "../../views/backup.ts";

export default command({
  details:
    "Writes the store and its packages to one file with mode 600, while the server runs or not. Everything that was acknowledged before the command started is in it. The file appears when it is complete. It holds payloads, outputs and logs in plain text. Secrets are encrypted: without the master key they cannot be read.",
  args: {
    file: { type: "positional", description: "File to write, or - for standard output" },
    "with-master-key": {
      type: "boolean",
      description: "Include `master.key`, so that the file alone restores the secrets",
    },
    overwrite: { type: "boolean", description: "Replace an existing file" },
    ...dataFolder,
    ...json,
  },
  examples: [
    ["svc admin backup svc-monday.tar", "Back up the store in .svc"],
    ["svc admin backup - | gzip > svc.tar.gz", "Compress the backup"],
  ],
  async run(values) {
    const isStream = values.file === "-";
    if (isStream && values.json) {
      throw new UsageError(
        "--json needs standard output, which receives the backup.",
        "Pass a file, or omit --json.",
      );
    }
    if (isStream && process.stdout.isTTY) {
      throw new UsageError(
        "Standard output is a terminal, which cannot show a backup.",
        "Pass a file, or redirect the output: `svc admin backup - > svc.tar`.",
      );
    }
    const { manifest, sizeBytes } = await backUpStore(values.data, {
      file: isStream ? null : values.file,
      overwrite: values.overwrite,
      withMasterKey: values["with-master-key"],
    });
    if (values.json) return printJson({ file: values.file, size_bytes: sizeBytes, ...backupJson(manifest) });
    const target = isStream ? "standard output" : values.file;
    report.success(
      `Wrote ${target} (${bytes(sizeBytes)}): ${count(manifest.tables.executions ?? 0, "execution")}, ${count(packagesIn(manifest), "package")}.`,
    );
    if (manifest.packages === "storage") {
      report.warning("The packages are in SVC_STORAGE_URL and not in the backup.");
    }
    if (!manifest.master_key) {
      report.hint(
        "The backup does not contain the master key. Keep master.key or SVC_MASTER_KEY elsewhere: without it, all secrets of the backup are lost.",
      );
    }
  },
}) as Command;
