import { didYouMean } from "../../../project/suggest.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError } from "../../app/errors.ts";
import { readConfig, writeConfig } from "../../profiles/file.ts";
import { report } from "../../terminal/report.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";

export default command({
  details: "SVC_API_KEY and SVC_PROFILE take precedence over the chosen profile.",
  args: { name: { type: "positional", description: "Name of the profile" } },
  async run({ name }) {
    const config = readConfig();
    const profile = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
    if (profile === undefined) {
      throw new CliError(
        `There is no profile "${sanitizeLine(name)}"${didYouMean(name, Object.keys(config.profiles))}.`,
        "Run `svc profiles list` to see all profiles.",
      );
    }
    writeConfig({ ...config, current: name });
    report.success(`Using profile ${name} (${profile.base_url}).`);
  },
}) as Command;
