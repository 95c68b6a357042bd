import { json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { print } from "../../output.ts";
import { say } from "../../say.ts";
import { prettyJson } from "../../text.ts";

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
