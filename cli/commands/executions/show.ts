import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { print, printJson } from "../../terminal/output.ts";
import { executionText } from "../../views/execution.ts";

const show: Command = command({
  args: {
    "execution-id": { type: "positional", description: "The execution, `exe_` and 26 characters" },
    ...json,
    ...verbose,
  },
  examples: [["svc logs --execution <execution-id>", "What it wrote to the log"]],
  async run(values) {
    const executions = await openConnection(values).client("executions");
    const execution = await executions.getExecution({ executionId: values["execution-id"] });
    if (values.json) {
      const { ExecutionSchema } = await import("../../../proto/svc/v1/execution_pb.ts");
      return printJson(ExecutionSchema, execution);
    }
    print(await executionText(execution));
  },
});

export default show;
