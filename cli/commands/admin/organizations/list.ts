import { dataFolder, withStore } from "../../../admin-store.ts";
import { json } from "../../../arguments.ts";
import { type Command, command } from "../../../command.ts";
import { print } from "../../../output.ts";
import { table } from "../../../table.ts";
import { cleanLine, distance, prettyJson } from "../../../text.ts";

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
