import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { UsageError } from "../../app/errors.ts";
import { json, verbose } from "../../app/options.ts";
import { printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";

const set: Command = command({
  about:
    "The value comes from standard input, without a line break at its end, or from a prompt that does not show it;\nnever from an argument, which others on this machine could see. Agents read it as ctx.secrets.NAME.",
  args: {
    name: { type: "positional", description: "Name of the secret: letters, digits, _ and -" },
    ...json,
    ...verbose,
  },
  examples: [
    ["svc secrets set GITHUB_SECRET", "Asks for the value"],
    ["svc secrets set GITHUB_SECRET < secret.txt", "Takes it from a file"],
  ],
  async run(values) {
    const connection = openConnection(values);
    const { name } = values;
    const value = await readValue(name);
    if (value === "")
      throw new UsageError("The value is empty.", `To take a secret away: \`svc secrets remove ${name}\`.`);
    const secret = await (await connection.client("organization")).setSecret({ name, value });
    if (values.json) {
      const { SecretSchema } = await import("../../../proto/svc/v1/organization_pb.ts");
      return printJson(SecretSchema, secret);
    }
    say.done(`Set ${secret.name}.`);
  },
});

async function readValue(name: string): Promise<string> {
  if (process.stdin.isTTY)
    return (await import("../../terminal/password-prompt.ts")).promptHidden(`Value of ${name}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new UsageError("The value is not UTF-8.", "Encode it, for example as base64.");
  }
}

export default set;
