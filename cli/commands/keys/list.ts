import type { ApiKey } from "../../../proto/svc/v1/organization_pb.ts";
import { openConnection } from "../../api/connection.ts";
import { ago, dateOf } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { out } from "../../terminal/colors.ts";
import { cleanLine, distance } from "../../terminal/format.ts";
import { print, printJson } from "../../terminal/output.ts";
import { type Cell, table } from "../../terminal/table.ts";

const list: Command = command({
  args: { ...json, ...verbose },
  async run(values) {
    const answer = await (await openConnection(values).client("organization")).listApiKeys({});
    if (values.json) {
      const { ListApiKeysResponseSchema } = await import("../../../proto/svc/v1/organization_pb.ts");
      return printJson(ListApiKeysResponseSchema, answer);
    }
    const rows = answer.keys.map((key) => [
      key.keyId,
      cleanLine(key.name),
      key.scope,
      ago(key.createdAt),
      ago(key.lastUsedAt) || "never",
      stateOf(key),
    ]);
    print(table(["ID", "NAME", "SCOPE", "CREATED", "LAST USED", "STATE"], rows));
  },
});

function stateOf(key: ApiKey): Cell {
  if (key.revokedAt !== undefined) return { text: `revoked ${ago(key.revokedAt)}`, paint: out.red };
  const expires = dateOf(key.expiresAt);
  if (expires === null) return { text: "valid", paint: out.green };
  const isOver = expires.getTime() <= Date.now();
  return isOver
    ? { text: `expired ${distance(expires)}`, paint: out.red }
    : { text: `expires ${distance(expires)}`, paint: out.yellow };
}

export default list;
