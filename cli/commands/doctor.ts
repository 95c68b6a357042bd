import { type Command, command } from "../app/command.ts";
import { Silent } from "../app/errors.ts";
import { json, verbose } from "../app/options.ts";
import type { Check } from "../doctor/diagnose.ts";
import { out } from "../terminal/colors.ts";
import { cleanLine, prettyJson } from "../terminal/format.ts";
import { print } from "../terminal/output.ts";

const doctor: Command = command({
  about:
    "Looks at the runtime, the key, the service, the clocks and, in a project's folder, at the project file and whether\nwhat it declares is deployed. Exits with 1 when a check fails. Changes nothing.",
  args: { ...json, ...verbose },
  async run(values) {
    const { diagnose } = await import("../doctor/diagnose.ts");
    const checks = await diagnose(process.cwd(), values);
    const isWell = checks.every(({ status }) => status !== "failed");
    if (values.json) print(prettyJson({ ok: isWell, checks }));
    else print(checks.map(checkText).join("\n"));
    if (!isWell) throw new Silent(1);
  },
});

const signs = { ok: "✔", failed: "✖", skipped: "-" } as const;
const paints = { ok: out.green, failed: out.red, skipped: out.dim } as const;

function checkText({ id, status, message, advice }: Check): string {
  const paint = paints[status];
  const head = `${paint(signs[status])} ${id.padEnd(14)}  ${cleanLine(message)}`;
  return advice === "" ? head : `${head}\n${" ".repeat(18)}${out.dim(cleanLine(advice))}`;
}

export default doctor;
