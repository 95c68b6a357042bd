import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { force, output } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { isValidKey } from "../../views/api-key.ts";
import { printMessage } from "../../views/result.ts";

export default command({
  details:
    "The service rejects a revoked key permanently. Deployments that were pushed with it stay. Revoking the key in use requires confirmation.",
  args: {
    "key-id": { type: "positional", description: "Key ID, `key_` and 26 characters; not the key itself" },
    ...force,
    ...output,
  },
  async run(values) {
    const organization = await connect("organization", values);
    const keyId = values["key-id"];
    const keys = (await organization.listApiKeys({})).keys.filter(isValidKey);
    if (keys.some((key) => key.current && key.keyId === keyId)) {
      // Only a key with scope full lists keys, so the last such key is always the current one.
      const isLast = keys.every((key) => key.scope !== "full" || key.keyId === keyId);
      const last = " and the last valid key with scope full. Only `svc admin keys create` can create another";
      if (!values.force) report.warning(`This is the API key in use${isLast ? last : ""}.`);
      await confirm(`Revoke ${keyId}?`, values);
    }
    const key = await organization.revokeApiKey({ keyId });
    if (values.json) return printMessage(key);
    report.success(`Revoked API key ${key.keyId} "${sanitizeLine(key.name)}".`);
  },
}) as Command;
