import { connect } from "../../api/connection.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, output } from "../../app/options.ts";
import { printList } from "../../views/result.ts";

export default command({
  details: "Prints names and times. The values cannot be read back.",
  args: { ...fullListLimit, ...output },
  async run(values) {
    const page = await (await connect("organization", values)).listSecrets({});
    const secrets = page.secrets.slice(0, values.limit);
    await printList({ ...page, secrets }, values, {
      columns: ["NAME", { title: "CREATED", role: "extra" }, { title: "UPDATED", role: "extra" }],
      rows: secrets.map(({ name, createdAt, updatedAt }) => [name, ago(createdAt), ago(updatedAt)]),
      hasMore: secrets.length < page.secrets.length,
      empty: ["No secrets found.", "Run `svc secrets set <name>` to set one."],
    });
  },
}) as Command;
