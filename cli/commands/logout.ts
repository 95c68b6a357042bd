import { type Command, command } from "../app/command.ts";
import { CliError } from "../app/errors.ts";
import { readConfig, writeConfig } from "../profiles/file.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

export default command({
  details:
    "Removes a profile with its key from this machine. The key stays valid; `svc keys revoke` revokes it.",
  args: {
    profile: {
      type: "positional",
      required: false,
      description: "Profile to remove (default: the one in use)",
    },
  },
  async run(values) {
    const { current, profiles } = readConfig();
    const name = values.profile ?? (process.env.SVC_PROFILE || current);
    if (!Object.hasOwn(profiles, name)) {
      throw new CliError(
        name === "" ? "No profile is stored." : `There is no profile "${sanitizeLine(name)}".`,
        "Run `svc profiles list` to see all profiles.",
      );
    }
    const { [name]: _, ...others } = profiles;
    writeConfig({ current: name === current ? "" : current, profiles: others });
    report.success(`Removed profile ${name}.`);
  },
}) as Command;
