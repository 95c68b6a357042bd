import { withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { dataFolder, json } from "../../../app/options.ts";
import { printJson } from "../../../terminal/output.ts";
import { report } from "../../../terminal/report.ts";
import { sanitizeLine } from "../../../terminal/sanitize.ts";
import { newKeyJson, printNewKey } from "../../../views/api-key.ts";

export default command({
  details: "Prints the first API key of the organization on standard output. The key is not stored.",
  args: {
    name: { type: "positional", description: "Display name" },
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
      return printJson({ organization: created, ...newKeyJson(key) });
    }
    report.success(`Created organization ${org_id} "${sanitizeLine(name)}".`);
    printNewKey(key);
  },
}) as Command;
