import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { cleanLine } from "../../terminal/format.ts";
import { printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";

const revoke: Command = command({
  about: "It is refused from then on, for good. What was deployed with it stays.",
  args: {
    "key-id": {
      type: "positional",
      description: "The key, `key_` and 26 characters: its id, not the key itself",
    },
    ...json,
    ...verbose,
  },
  async run(values) {
    const key = await (await openConnection(values).client("organization")).revokeApiKey({
      keyId: values["key-id"],
    });
    if (values.json) {
      const { ApiKeySchema } = await import("../../../proto/svc/v1/organization_pb.ts");
      return printJson(ApiKeySchema, key);
    }
    say.done(`Revoked ${key.keyId}, "${cleanLine(key.name)}".`);
  },
});

export default revoke;
