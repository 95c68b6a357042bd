import type { Execution } from "../../../proto/svc/v1/execution_pb.ts";
import { openConnection } from "../../api/connection.ts";
import { finishExecution } from "../../api/follow-execution.ts";
import { type Command, command } from "../../app/command.ts";
import { data, readInput } from "../../app/input.ts";
import { json, verbose } from "../../app/options.ts";
import { print, printJson } from "../../terminal/output.ts";

const replay: Command = command({
  about: "Runs the same input again as a new execution, and follows it as `svc run` does.",
  args: {
    "execution-id": { type: "positional", description: "The execution, `exe_` and 26 characters" },
    data: { ...data.data, description: "A file with another input; `-` reads standard input" },
    deployment: {
      type: "string",
      valueHint: "id",
      description: "Run the code of this deployment, not of the active one",
    },
    detach: { type: "boolean", description: "Print the new execution's id and do not wait" },
    json: { ...json.json, description: "Print the whole execution as JSON instead of its output" },
    ...verbose,
  },
  async run(values) {
    const connection = openConnection(values);
    const input = values.data === undefined ? undefined : await readInput(values.data);
    const executions = await connection.client("executions");
    const execution: Execution = await executions.replayExecution({
      executionId: values["execution-id"],
      deploymentId: values.deployment ?? "",
      ...(input !== undefined && { input }),
    });
    if (!values.detach) return finishExecution(executions, execution, values);
    const { ExecutionSchema } = await import("../../../proto/svc/v1/execution_pb.ts");
    if (values.json) await printJson(ExecutionSchema, execution);
    else print(execution.executionId);
  },
});

export default replay;
