import { json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { print, printJson } from "../../output.ts";
import { say } from "../../say.ts";
import { table } from "../../table.ts";
import { ago } from "../../times.ts";

const list: Command = command({
  about: "Names and times; no command and no request ever shows a value.",
  args: { ...json, ...verbose },
  async run(values) {
    const answer = await (await openConnection(values).client("organization")).listSecrets({});
    if (values.json) {
      const { ListSecretsResponseSchema } = await import("../../../proto/svc/v1/organization_pb.ts");
      return printJson(ListSecretsResponseSchema, answer);
    }
    if (answer.secrets.length === 0) {
      say.line("No secrets found.");
      return say.hint("Set one with `svc secrets set <name>`.");
    }
    const rows = answer.secrets.map(({ name, createdAt, updatedAt }) => [
      name,
      ago(createdAt),
      ago(updatedAt),
    ]);
    print(table(["NAME", "CREATED", "SET"], rows));
  },
});

export default list;
