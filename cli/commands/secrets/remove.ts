import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { output, ownEnvironment } from "../../app/options.ts";
import { printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";

export default command({
  details: "Webhooks that verify signatures with this secret reject all requests from then on.",
  args: { name: { type: "positional", description: "Name of the secret" }, ...ownEnvironment, ...output },
  async run(values) {
    const { name, environment = "" } = values;
    await (await connect("organization", values)).deleteSecret({ name, environment });
    if (values.json) printJson({ name });
    else report.success(`Removed ${name}${environment === "" ? "" : ` in ${environment}`}.`);
  },
}) as Command;
