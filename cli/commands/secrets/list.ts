import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { environment, fullListLimit, output, paging } from "../../app/options.ts";
import { printList } from "../../views/result.ts";

export default command({
  details:
    "Prints names and times. The values cannot be read back. With --environment each name is listed once, with the value that the environment uses.",
  args: { ...fullListLimit, ...paging, ...environment, ...output },
  async run(values) {
    const client = await connect("organization", values);
    const page = await readPages(
      values,
      (request) => client.listSecrets({ environment: values.environment ?? "", ...request }),
      (all, next) => all.secrets.push(...next.secrets),
    );
    await printList(page, values, {
      columns: [
        "NAME",
        "ENVIRONMENT",
        { title: "CREATED", role: "extra" },
        { title: "UPDATED", role: "extra" },
      ],
      rows: page.secrets.map((secret) => [
        secret.name,
        secret.environment || "all",
        ago(secret.createdAt),
        ago(secret.updatedAt),
      ]),
      empty: ["No secrets found.", "Run `svc secrets set <name>` to set one."],
    });
  },
}) as Command;
