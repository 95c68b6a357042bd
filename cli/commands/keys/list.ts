import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { ago } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, output, paging } from "../../app/options.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { isValidKey, keyStateCell, warnOfExpiry } from "../../views/api-key.ts";
import { printList } from "../../views/result.ts";

export default command({
  args: { ...fullListLimit, ...paging, ...output },
  async run(values) {
    const client = await connect("organization", values);
    const page = await readPages(
      values,
      (request) => client.listApiKeys(request),
      (all, next) => all.keys.push(...next.keys),
    );
    await printList(page, values, {
      columns: [
        "ID",
        { title: "NAME", role: "name" },
        "SCOPE",
        { title: "CREATED", role: "extra" },
        { title: "LAST USED", role: "extra" },
        "STATE",
      ],
      rows: page.keys.map((key) => [
        key.keyId,
        key.name,
        key.scope,
        ago(key.createdAt),
        ago(key.lastUsedAt) || "never",
        keyStateCell(key),
      ]),
      empty: ["No API keys found.", "Run `svc keys create --name <name>` to create one."],
    });
    if (values.json) return;
    for (const key of page.keys) {
      if (isValidKey(key))
        warnOfExpiry(`The API key "${sanitizeLine(key.name)}" (${key.keyId})`, key.expiresAt);
    }
  },
}) as Command;
