import { openConnection } from "../api/connection.ts";
import { type Command, command } from "../app/command.ts";
import { UsageError } from "../app/errors.ts";
import { force, json, verbose } from "../app/options.ts";
import { projectFolder } from "../project/folder.ts";

export default command({
  details:
    "Validates and packages the project in this folder, prints the changes, asks for confirmation, uploads the package unless it is already stored, and deploys it. Returns when all webhooks and schedules are live.",
  args: {
    environment: {
      type: "positional",
      required: false,
      description: "Environment (default: that of SVC_BASE_URL, or production)",
    },
    // A name of its own, since the positional argument is called environment. Users type -e as in the other commands.
    env: {
      type: "string",
      alias: "e",
      synonym: "environment",
      valueHint: "name",
      description: "The same as the argument",
    },
    "dry-run": { type: "boolean", description: "Print the changes and deploy nothing" },
    ...force,
    redeploy: { type: "boolean", description: "Deploy even if nothing has changed" },
    ...json,
    verbose: {
      ...verbose.verbose,
      description: "Also print packaged files, all changes and durations",
    },
  },
  examples: [
    ["svc push --dry-run", "Print the changes of a push"],
    ["svc push staging --force", "Deploy to staging without confirmation"],
  ],
  async run(values) {
    const { environment = values.env, env = environment } = values;
    if (env !== environment) {
      throw new UsageError(
        `The argument and --environment name two environments: ${environment} and ${env}.`,
        "Pass only one of them.",
      );
    }
    const root = projectFolder();
    const { requireProjectFile } = await import("../project/load.ts");
    requireProjectFile(root);
    const { push } = await import("../push/push.ts");
    await push(root, openConnection(values), { ...values, environment });
  },
}) as Command;
