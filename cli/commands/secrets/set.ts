import { isName, nameRule } from "../../../project/names.ts";
import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { UsageError } from "../../app/errors.ts";
import { readStandardInput } from "../../app/input.ts";
import { output, ownEnvironment } from "../../app/options.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { printMessage } from "../../views/result.ts";

export default command({
  details:
    "Reads the value from standard input without a trailing line break, or from a prompt without echo. The value is never an argument, since arguments are visible to other users of the machine. Agents read it as ctx.secrets.NAME.",
  args: {
    name: { type: "positional", description: "Name of the secret: letters, digits, _ and -" },
    ...ownEnvironment,
    ...output,
  },
  examples: [
    ["svc secrets set GITHUB_SECRET --environment staging", "Set a value for one environment"],
    ["svc secrets set GITHUB_SECRET", "Prompt for the value"],
    ["svc secrets set GITHUB_SECRET < secret.txt", "Read the value from a file"],
  ],
  async run(values) {
    const { name } = values;
    if (!isName(name)) {
      throw new UsageError(
        `The name of a secret must be ${nameRule}, not "${sanitizeLine(name)}".`,
        "Example: svc secrets set GITHUB_SECRET",
      );
    }
    const connection = openConnection(values);
    const value = await readValue(name);
    if (value === "") {
      throw new UsageError("The value is empty.", `To remove a secret, run \`svc secrets remove ${name}\`.`);
    }
    const secret = await (await connection.client("organization")).setSecret({
      name,
      value,
      environment: values.environment ?? "",
    });
    if (values.json) return printMessage(secret);
    report.success(`Set ${secret.name}${secret.environment === "" ? "" : ` in ${secret.environment}`}.`);
  },
}) as Command;

async function readValue(name: string): Promise<string> {
  if (process.stdin.isTTY) {
    return (await import("../../terminal/password-prompt.ts")).promptPassword(`Value of ${name}`);
  }
  const value = await readStandardInput();
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new UsageError("The value is not UTF-8.", "Encode the value, for example as base64.");
  }
}
