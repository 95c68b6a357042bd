import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { UsageError } from "../../app/errors.ts";
import { json, verbose } from "../../app/options.ts";
import { bytes, count, prettyJson } from "../../terminal/format.ts";
import { print } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";

const download: Command = command({
  about:
    "Writes the package exactly as it was pushed, a gzip-compressed tar archive, and checks its SHA-256.",
  args: {
    "deployment-id": { type: "positional", description: "The deployment, `dep_` and 26 characters" },
    output: {
      type: "string",
      alias: "o",
      valueHint: "file",
      description: "The file to write; <deployment-id>.tar.gz when not given",
    },
    extract: { type: "string", valueHint: "dir", description: "Unpack into this new folder instead" },
    ...json,
    ...verbose,
  },
  async run(values) {
    const deploymentId = values["deployment-id"];
    if (values.extract !== undefined && values.output !== undefined) {
      throw new UsageError("--output and --extract exclude each other.", "Give one of them.");
    }
    const target = values.extract ?? values.output ?? `${deploymentId}.tar.gz`;
    const path = resolve(target);
    await refuseExisting(path, target);

    const deployments = await openConnection(values).client("deployments");
    const answer = await deployments.downloadDeployment({ deploymentId });
    const { downloadFile, downloadFolder } = await import("../../api/download.ts");
    let fileCount: number | undefined;
    if (values.extract === undefined) await downloadFile(path, answer);
    else fileCount = (await downloadFolder(path, answer)).length;

    if (values.json) {
      const { digest, sizeBytes } = answer;
      print(
        prettyJson({
          deployment_id: deploymentId,
          path,
          digest,
          size_bytes: sizeBytes,
          file_count: fileCount,
        }),
      );
    } else if (fileCount === undefined) say.done(`Wrote ${target} (${bytes(answer.sizeBytes)}).`);
    else say.done(`Unpacked ${count(fileCount, "file")} to ${target}.`);
  },
});

async function refuseExisting(path: string, typed: string): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (exists) {
    throw new UsageError(
      `Cannot write to ${typed}: it exists already.`,
      "Name another place with --output or --extract.",
    );
  }
}

export default download;
