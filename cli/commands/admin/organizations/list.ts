import { withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { dataFolder, fullListLimit, json } from "../../../app/options.ts";
import { relativeTime } from "../../../terminal/format.ts";
import { print, printJson } from "../../../terminal/output.ts";
import { table } from "../../../terminal/table.ts";

export default command({
  args: { ...fullListLimit, ...dataFolder, ...json },
  async run(values) {
    const organizations = await withStore(values.data, (admin) => admin.listOrganizations());
    const rows = organizations.slice(0, values.limit).map(({ org_id, name, created_at }) => {
      return { org_id, name, created_at: new Date(created_at) };
    });
    if (values.json) return printJson({ organizations: rows });
    const cells = rows.map((row) => [row.org_id, row.name, relativeTime(row.created_at)]);
    print(table(["ID", { title: "NAME", role: "name" }, { title: "CREATED", role: "extra" }], cells));
  },
}) as Command;
