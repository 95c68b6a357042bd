import { connect } from "../../api/connection.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, output } from "../../app/options.ts";
import { keyStateCell } from "../../views/api-key.ts";
import { printList } from "../../views/result.ts";

export default command({
  args: { ...fullListLimit, ...output },
  async run(values) {
    const page = await (await connect("organization", values)).listApiKeys({});
    const keys = page.keys.slice(0, values.limit);
    await printList({ ...page, keys }, values, {
      columns: [
        "ID",
        { title: "NAME", role: "name" },
        "SCOPE",
        { title: "CREATED", role: "extra" },
        { title: "LAST USED", role: "extra" },
        "STATE",
      ],
      rows: keys.map((key) => [
        key.keyId,
        key.name,
        key.scope,
        ago(key.createdAt),
        ago(key.lastUsedAt) || "never",
        keyStateCell(key),
      ]),
      hasMore: keys.length < page.keys.length,
      empty: ["No API keys found.", "Run `svc keys create --name <name>` to create one."],
    });
  },
}) as Command;
