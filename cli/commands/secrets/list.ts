import { connect } from "../../api/connection.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { output } from "../../app/options.ts";
import { printList } from "../../views/result.ts";

export default command({
  details: "Prints names and times. The values cannot be read back.",
  args: output,
  async run(values) {
    const page = await (await connect("organization", values)).listSecrets({});
    await printList(page, values, {
      headings: ["NAME", "CREATED", "UPDATED"],
      rows: page.secrets.map(({ name, createdAt, updatedAt }) => [name, ago(createdAt), ago(updatedAt)]),
      empty: ["No secrets found.", "Run `svc secrets set <name>` to set one."],
    });
  },
}) as Command;
