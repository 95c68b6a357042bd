import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, output, paging } from "../../app/options.ts";
import { printList } from "../../views/result.ts";

export default command({
  details: "Prints names and times. The values cannot be read back.",
  args: { ...fullListLimit, ...paging, ...output },
  async run(values) {
    const client = await connect("organization", values);
    const page = await readPages(
      values,
      (request) => client.listSecrets(request),
      (all, next) => all.secrets.push(...next.secrets),
    );
    await printList(page, values, {
      columns: ["NAME", { title: "CREATED", role: "extra" }, { title: "UPDATED", role: "extra" }],
      rows: page.secrets.map(({ name, createdAt, updatedAt }) => [name, ago(createdAt), ago(updatedAt)]),
      empty: ["No secrets found.", "Run `svc secrets set <name>` to set one."],
    });
  },
}) as Command;
