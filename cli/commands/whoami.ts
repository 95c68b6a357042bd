import { connectionTo } from "../api/connection.ts";
import { type Command, command } from "../app/command.ts";
import { output } from "../app/options.ts";
import { selectConnection } from "../profiles/select.ts";
import { print, printJson } from "../terminal/output.ts";
import { warnOfExpiry } from "../views/api-key.ts";
import { identityJson, identityText } from "../views/identity.ts";

export default command({
  details: "Checks the API key with the service. The secret part of the key is not printed.",
  args: output,
  async run(values) {
    const selection = selectConnection();
    const connection = connectionTo(selection, values);
    const [organization, health] = await Promise.all([
      (await connection.client("organization")).getOrganization({}),
      (await connection.client("health")).check({}),
    ]);
    const identity = { ...selection, organization, keyExpiresAt: health.keyExpiresAt };
    if (values.json) return printJson(identityJson(identity));
    print(identityText(identity));
    warnOfExpiry("The API key", health.keyExpiresAt);
  },
}) as Command;
