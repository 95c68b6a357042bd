import { dataFolder, withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { expiry, json, newKey } from "../../../app/options.ts";
import { prettyJson } from "../../../terminal/format.ts";
import { print } from "../../../terminal/output.ts";
import { newKeyJson, printNewKey } from "../../../views/new-key.ts";

const create: Command = command({
  about:
    "For an organization that has lost its keys, for example. Prints the key once: it is stored nowhere.",
  args: {
    organization: {
      type: "string",
      required: true,
      valueHint: "id",
      description: "The organization, `org_` and 26 characters (required)",
    },
    ...newKey,
    name: { ...newKey.name, required: false, default: "admin", description: "What it is for" },
    ...dataFolder,
    ...json,
  },
  async run(values) {
    const { name, scope } = values;
    const expiresAtMs = values.expires === undefined ? null : expiry(values.expires).getTime();
    const key = await withStore(values.data, (admin) =>
      admin.createKey(values.organization, { name, scope, expiresAtMs }),
    );
    if (values.json) print(prettyJson(newKeyJson(key)));
    else printNewKey(key);
  },
});

export default create;
