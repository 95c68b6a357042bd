import { connectionTo } from "../api/connection.ts";
import { type Command, command } from "../app/command.ts";
import { output } from "../app/options.ts";
import { selectConnection } from "../profiles/select.ts";
import { print, printJson } from "../terminal/output.ts";
import { identityJson, identityText } from "../views/identity.ts";

export default command({
  details: "Checks the API key with the service. The secret part of the key is not printed.",
  args: output,
  async run(values) {
    const selection = selectConnection();
    const client = await connectionTo(selection, values).client("organization");
    const identity = { ...selection, organization: await client.getOrganization({}) };
    if (values.json) printJson(identityJson(identity));
    else print(identityText(identity));
  },
}) as Command;
