import { dataFolder, withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { json } from "../../../app/options.ts";
import { cleanLine, distance, prettyJson } from "../../../terminal/format.ts";
import { print } from "../../../terminal/output.ts";
import { table } from "../../../terminal/table.ts";

const list: Command = command({
  args: { ...dataFolder, ...json },
  async run(values) {
    const organizations = await withStore(values.data, (admin) => admin.listOrganizations());
    if (values.json) {
      const rows = organizations.map(({ org_id, name, created_at }) => {
        return { org_id, name, created_at: new Date(created_at).toISOString() };
      });
      return print(prettyJson({ organizations: rows }));
    }
    const rows = organizations.map(({ org_id, name, created_at }) => {
      return [org_id, cleanLine(name), distance(new Date(created_at))];
    });
    print(table(["ID", "NAME", "CREATED"], rows));
  },
});

export default list;
