import { type Difference, differences } from "../../../project/plan/json-differences.ts";
import type { Execution } from "../../../proto/svc/v1/execution_pb.ts";
import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { Exit } from "../../app/errors.ts";
import { executionId, output } from "../../app/options.ts";
import { stdoutColors as colors } from "../../terminal/colors.ts";
import { print, printJson } from "../../terminal/output.ts";
import { report } from "../../terminal/report.ts";
import { lineJson, sanitizeLine } from "../../terminal/sanitize.ts";
import { outputOf } from "../../views/execution.ts";

export default command({
  details: "Compares name, deployment, status, input, output and error. Exits with 1 when they differ.",
  args: {
    "execution-a": executionId["execution-id"],
    "execution-b": executionId["execution-id"],
    ...output,
  },
  async run(values) {
    const executions = await connect("executions", values);
    const [a, b] = await Promise.all(
      [values["execution-a"], values["execution-b"]].map(async (id) =>
        comparable(await executions.getExecution({ executionId: id })),
      ),
    );
    const found = differences(a, b);
    if (values.json) printJson({ differences: found });
    else if (found.length === 0) report.line("The executions do not differ.");
    else for (const difference of found) print(differenceText(difference));
    if (found.length > 0) throw new Exit(1);
  },
}) as Command;

/** The fields to compare; IDs and times always differ. */
async function comparable(execution: Execution): Promise<Record<string, unknown>> {
  const { kind, name, deploymentId, environment, status, input, error } = execution;
  return {
    kind,
    name,
    deployment_id: deploymentId,
    environment,
    status,
    input: input ?? {},
    output: await outputOf(execution),
    error: error === undefined ? null : { name: error.name, message: error.message },
  };
}

function differenceText({ path, a, b }: Difference): string {
  const side = (sign: string, value: unknown, paint: (text: string) => string): string =>
    value === undefined ? "" : `\n  ${paint(`${sign} ${lineJson(value)}`)}`;
  return `${colors.bold(sanitizeLine(path))}${side("-", a, colors.red)}${side("+", b, colors.green)}`;
}
