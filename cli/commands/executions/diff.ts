import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { Silent } from "../../app/errors.ts";
import { json, verbose } from "../../app/options.ts";
import { type Difference, differences } from "../../diff/json.ts";
import { out } from "../../terminal/colors.ts";
import { cleanLine, lineJson, prettyJson } from "../../terminal/format.ts";
import { print } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { outputOf } from "../../views/execution.ts";

const diff: Command = command({
  about:
    "Compares name, deployment, status, input, output and error; ids and times always differ. Exits with 1 when\nsomething differs.",
  args: {
    "execution-a": { type: "positional", description: "The one execution" },
    "execution-b": { type: "positional", description: "The other" },
    ...json,
    ...verbose,
  },
  async run(values) {
    const executions = await openConnection(values).client("executions");
    const [a, b] = await Promise.all(
      [values["execution-a"], values["execution-b"]].map(async (executionId) => {
        const execution = await executions.getExecution({ executionId });
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
      }),
    );
    const found = differences(a, b);
    if (values.json) print(prettyJson({ differences: found }));
    else if (found.length === 0) say.line("The executions do not differ.");
    else for (const difference of found) print(differenceText(difference));
    if (found.length > 0) throw new Silent(1);
  },
});

function differenceText({ path, a, b }: Difference): string {
  const side = (sign: string, value: unknown, paint: (text: string) => string): string =>
    value === undefined ? "" : `\n  ${paint(`${sign} ${lineJson(value)}`)}`;
  return `${out.bold(cleanLine(path))}${side("-", a, out.red)}${side("+", b, out.green)}`;
}

export default diff;
