import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { prettyJson } from "../../terminal/format.ts";
import { print } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";

const remove: Command = command({
  about: "Webhooks that are signed with it refuse what is sent to them from then on.",
  args: { name: { type: "positional", description: "Name of the secret" }, ...json, ...verbose },
  async run(values) {
    const { name } = values;
    await (await openConnection(values).client("organization")).deleteSecret({ name });
    if (values.json) print(prettyJson({ name }));
    else say.done(`Removed ${name}.`);
  },
});

export default remove;
