import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { UsageError } from "../../app/errors.ts";
import { deploymentId, output } from "../../app/options.ts";
import { bytes, count } from "../../terminal/format.ts";
import { printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";

export default command({
  details: "Writes the package as a gzip-compressed tar archive and verifies its digest.",
  args: {
    ...deploymentId,
    output: {
      type: "string",
      alias: "o",
      valueHint: "file",
      description: "File to write (default: <deployment-id>.tar.gz)",
    },
    extract: { type: "string", valueHint: "dir", description: "Extract to this new folder instead" },
    ...output,
  },
  async run(values) {
    const id = values["deployment-id"];
    if (values.extract !== undefined && values.output !== undefined) {
      throw new UsageError("--output and --extract exclude each other.", "Pass only one of them.");
    }
    const target = values.extract ?? values.output ?? `${id}.tar.gz`;
    const path = resolve(target);
    if (existsSync(path)) {
      throw new UsageError(
        `Cannot write to ${target}: it already exists.`,
        "Choose another path with --output or --extract.",
      );
    }
    const deployments = await connect("deployments", values);
    const { url, digest, sizeBytes: size } = await deployments.downloadDeployment({ deploymentId: id });
    const sizeBytes = Number(size);
    const download = { url, digest, sizeBytes };
    const { downloadFile, downloadFolder } = await import("../../api/download.ts");
    let fileCount: number | undefined;
    if (values.extract === undefined) await downloadFile(path, download);
    else fileCount = (await downloadFolder(path, download)).length;
    if (values.json) {
      printJson({ deployment_id: id, path, digest, size_bytes: sizeBytes, file_count: fileCount });
    } else if (fileCount === undefined) report.success(`Wrote ${target} (${bytes(sizeBytes)}).`);
    else report.success(`Extracted ${count(fileCount, "file")} to ${target}.`);
  },
}) as Command;
