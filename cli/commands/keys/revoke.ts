import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { output } from "../../app/options.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { printMessage } from "../../views/result.ts";

export default command({
  details: "The service rejects a revoked key permanently. Deployments that were pushed with it stay.",
  args: {
    "key-id": { type: "positional", description: "Key ID, `key_` and 26 characters; not the key itself" },
    ...output,
  },
  async run(values) {
    const organization = await connect("organization", values);
    const key = await organization.revokeApiKey({ keyId: values["key-id"] });
    if (values.json) return printMessage(key);
    report.success(`Revoked API key ${key.keyId} "${sanitizeLine(key.name)}".`);
  },
}) as Command;
