import { openConnection } from "../../api/connection.ts";
import { followExecution } from "../../api/follow-execution.ts";
import { type Command, command } from "../../app/command.ts";
import { readInput } from "../../app/input.ts";
import { data, executionId, follow, verbose } from "../../app/options.ts";

export default command({
  details: "Starts a new execution with the same input and follows it, as `svc run` does.",
  args: {
    ...executionId,
    data: { ...data.data, description: "JSON file with another input, - for standard input" },
    deployment: {
      type: "string",
      valueHint: "id",
      description: "Deployment to run (default: the active one)",
    },
    ...follow,
    ...verbose,
  },
  async run(values) {
    const connection = openConnection(values);
    const input = values.data === undefined ? undefined : await readInput(values.data);
    const executions = await connection.client("executions");
    const execution = await executions.replayExecution({
      executionId: values["execution-id"],
      deploymentId: values.deployment ?? "",
      ...(input !== undefined && { input }),
    });
    await followExecution(executions, execution, values);
  },
}) as Command;
