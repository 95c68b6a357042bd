import { type Command, command } from "../../app/command.ts";
import { json } from "../../app/options.ts";
import { readConfig } from "../../profiles/file.ts";
import { print, printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";
import { table } from "../../terminal/table.ts";

export default command({
  args: json,
  async run(values) {
    const { current, profiles } = readConfig();
    const rows = Object.entries(profiles).map(([name, { base_url }]) => ({
      name,
      base_url,
      current: name === (process.env.SVC_PROFILE || current),
    }));
    if (values.json) return printJson({ profiles: rows });
    if (rows.length === 0) {
      report.line("No profiles found.");
      report.hint("Run `svc login` to store the address and the API key of a service.");
      return;
    }
    const cells = rows.map((row) => [row.name, row.current ? "yes" : "", row.base_url]);
    print(table([{ title: "NAME", role: "name" }, "IN USE", { title: "ADDRESS", role: "detail" }], cells));
  },
}) as Command;
