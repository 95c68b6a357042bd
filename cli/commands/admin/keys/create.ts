import { withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { dataFolder, json, newKey } from "../../../app/options.ts";
import { printJson } from "../../../terminal/output.ts";
import { newKeyJson, printNewKey } from "../../../views/api-key.ts";

export default command({
  details: "Restores access to an organization without a usable key. The key is printed once and not stored.",
  args: {
    organization: {
      type: "string",
      required: true,
      valueHint: "id",
      description: "Organization ID, `org_` and 26 characters (required)",
    },
    ...newKey,
    name: { ...newKey.name, required: false, default: "admin", description: "Name of the key" },
    ...dataFolder,
    ...json,
  },
  async run(values) {
    const { name, scope, expires } = values;
    const key = await withStore(values.data, (admin) =>
      admin.createKey(values.organization, { name, scope, expiresAtMs: expires?.getTime() ?? null }),
    );
    if (values.json) printJson(newKeyJson(key));
    else printNewKey(key);
  },
}) as Command;
