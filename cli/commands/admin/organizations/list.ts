import { withStore } from "../../../api/admin-store.ts";
import { type Command, command } from "../../../app/command.ts";
import { UsageError } from "../../../app/errors.ts";
import { dataFolder, fullListLimit, json, paging } from "../../../app/options.ts";
import { relativeTime } from "../../../terminal/format.ts";
import { print, printJson } from "../../../terminal/output.ts";
import { sanitizeLine } from "../../../terminal/sanitize.ts";
import { table } from "../../../terminal/table.ts";
import { reportMore } from "../../../views/result.ts";

export default command({
  args: { ...fullListLimit, ...paging, ...dataFolder, ...json },
  async run(values) {
    const organizations = await withStore(values.data, (admin) => admin.listOrganizations());
    const token = values["page-token"];
    const start = token === undefined ? 0 : 1 + organizations.findIndex(({ org_id }) => org_id === token);
    if (token !== undefined && start === 0) {
      throw new UsageError(
        `There is no page after "${sanitizeLine(token)}".`,
        "Start again at the first page.",
      );
    }
    const rest = organizations.slice(start);
    const rows = rest
      .slice(0, values.all ? rest.length : values.limit)
      .map(({ org_id, name, created_at }) => {
        return { org_id, name, created_at: new Date(created_at) };
      });
    const nextPageToken = rows.length < rest.length ? (rows.at(-1)?.org_id ?? "") : "";
    if (values.json) return printJson({ organizations: rows, next_page_token: nextPageToken });
    const cells = rows.map((row) => [row.org_id, row.name, relativeTime(row.created_at)]);
    print(table(["ID", { title: "NAME", role: "name" }, { title: "CREATED", role: "extra" }], cells));
    if (nextPageToken !== "") reportMore(nextPageToken);
  },
}) as Command;
