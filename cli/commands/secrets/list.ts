import { openConnection } from "../../api/connection.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { print, printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { table } from "../../terminal/table.ts";

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
