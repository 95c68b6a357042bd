import { type Command, command } from "../app/command.ts";
import { CliError } from "../app/errors.ts";
import { json } from "../app/options.ts";
import { projectFolder } from "../project/folder.ts";
import { printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";

export default command({
  details:
    "Writes svc-env.d.ts with the names, inputs and outputs of the project's agents and workflows, and its secrets and variables. With it, the compiler checks ctx.run, ctx.secrets, ctx.vars and the client. Secrets are those that the project file and .env.example name. `svc dev` and `svc push` write it too. Commit the file.",
  args: {
    check: { type: "boolean", description: "Write nothing, and exit with 1 when the file is out of date" },
    ...json,
  },
  examples: [["svc types --check", "Check in CI that the file is up to date"]],
  async run({ check, json }) {
    const root = projectFolder();
    const { readDefinition } = await import("../project/load.ts");
    const { declarationFile, writeDeclaration } = await import("../project/write-declaration.ts");
    const definition = await readDefinition(root);
    const isChanged = await writeDeclaration(root, definition, { check });
    if (json) printJson({ path: declarationFile, changed: isChanged });
    if (check && isChanged) {
      throw new CliError(`${declarationFile} is out of date.`, "Run `svc types` and commit the file.");
    }
    if (!json) {
      report.success(isChanged ? `Wrote ${declarationFile}.` : `${declarationFile} is up to date.`);
    }
  },
}) as Command;
