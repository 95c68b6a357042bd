import { dataFolder, withStore } from "../../../admin-store.ts";
import { json } from "../../../arguments.ts";
import { type Command, command } from "../../../command.ts";
import { newKeyJson, printNewKey } from "../../../new-key.ts";
import { print } from "../../../output.ts";
import { say } from "../../../say.ts";
import { cleanLine, prettyJson } from "../../../text.ts";

const create: Command = command({
  about: "Prints the organization's first API key on standard output, once: it is stored nowhere.",
  args: {
    name: { type: "positional", description: "The display name" },
    ...dataFolder,
    ...json,
  },
  async run(values) {
    const { organization, key } = await withStore(values.data, (admin) =>
      admin.createOrganization(values.name),
    );
    const { org_id, name, created_at } = organization;
    if (values.json) {
      const created = { org_id, name, created_at: new Date(created_at).toISOString() };
      return print(prettyJson({ organization: created, ...newKeyJson(key) }));
    }
    say.done(`Created the organization ${cleanLine(name)}, ${org_id}.`);
    printNewKey(key);
  },
});

export default create;
