import { dataFolder, withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { json } from "../../../app/options.ts";
import { cleanLine, prettyJson } from "../../../terminal/format.ts";
import { print } from "../../../terminal/output.ts";
import { say } from "../../../terminal/report.ts";
import { newKeyJson, printNewKey } from "../../../views/new-key.ts";

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
