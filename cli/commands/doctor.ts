import { type Command, command } from "../app/command.ts";
import { Exit } from "../app/errors.ts";
import { output } from "../app/options.ts";
import type { Check } from "../doctor/check.ts";
import { projectFolder } from "../project/folder.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { print, printJson } from "../terminal/output.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

export default command({
  details:
    "Checks the runtime, the API key, the service and the clock. In the folder of a project it also checks the project file and its webhooks and schedules. Exits with 1 when a check fails. Changes nothing.",
  args: output,
  async run(values) {
    const { diagnose } = await import("../doctor/diagnose.ts");
    const checks = await diagnose(projectFolder(), values);
    const isOk = checks.every(({ status }) => status !== "failed");
    if (values.json) printJson({ ok: isOk, checks });
    else print(checks.map(checkText).join("\n"));
    if (!isOk) throw new Exit(1);
  },
}) as Command;

const signs = { ok: "✔", failed: "✖", skipped: "-" } as const;
const paints = { ok: colors.green, failed: colors.red, skipped: colors.dim } as const;

function checkText({ id, status, message, advice }: Check): string {
  const line = `${paints[status](signs[status])} ${id.padEnd(14)}  ${sanitizeLine(message)}`;
  return advice === "" ? line : `${line}\n${" ".repeat(18)}${colors.dim(sanitizeLine(advice))}`;
}
