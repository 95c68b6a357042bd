import { connect } from "../../api/connection.ts";
import { timestampOf } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { newKey, output } from "../../app/options.ts";
import { printNewKey } from "../../views/api-key.ts";
import { printMessage } from "../../views/result.ts";

export default command({
  details:
    "Prints the key on standard output, once; it is not stored. To rotate a key, create the new key before you revoke the old one.",
  args: { ...newKey, ...output },
  examples: [["svc keys create --name ci --scope deploy --expires 90d", "Create a key for a CI pipeline"]],
  async run(values) {
    const { name, scope, expires } = values;
    const organization = await connect("organization", values);
    const created = await organization.createApiKey({ name, scope, expiresAt: timestampOf(expires) });
    if (values.json) return printMessage(created);
    const keyId = created.key?.keyId ?? "";
    printNewKey({ keyId, name, scope, expiresAtMs: expires?.getTime() ?? null, token: created.token });
  },
}) as Command;
