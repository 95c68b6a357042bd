import { defaultEnvironment, openConnection } from "../api/connection.ts";
import { followExecution } from "../api/follow-execution.ts";
import { withSuggestion } from "../api/unknown-name.ts";
import { type Command, command } from "../app/command.ts";
import { readInput } from "../app/input.ts";
import { data, follow, oneEnvironment, verbose } from "../app/options.ts";

export default command({
  details:
    "Prints the log on standard error while the execution runs, then the output as JSON on standard output. Exits with 1 when the execution fails. Ctrl-C detaches and the execution continues.",
  args: {
    name: { type: "positional", description: "Name of the agent or workflow" },
    ...data,
    kind: {
      type: "enum",
      options: ["agent", "workflow"],
      valueHint: "kind",
      description: "Required kind of the target",
    },
    ...oneEnvironment,
    ...follow,
    ...verbose,
  },
  examples: [
    ['svc run triage --data \'{"title": "Hi"}\'', "Pass the input"],
    ["svc run triage --data issue.json", "Read the input from a file"],
  ],
  async run(values) {
    const connection = openConnection(values);
    const input = await readInput(values.data);
    const executions = await connection.client("executions");
    const { name, kind = "", environment = "" } = values;
    const execution = await withSuggestion(
      executions.runExecution({ name, kind, input, environment }),
      { name, environment: environment || defaultEnvironment(connection), kind },
      async () => {
        const deployments = await connection.client("deployments");
        const active = await deployments.listDeployments({ status: "active", pageSize: 1000 });
        return active.deployments.flatMap(({ agents, workflows, environment }) => [
          ...agents.map(({ name }) => ({ name, environment, kind: "agent" })),
          ...workflows.map(({ name }) => ({ name, environment, kind: "workflow" })),
        ]);
      },
    );
    await followExecution(executions, execution, values);
  },
}) as Command;
