import { json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { executionText } from "../../execution-text.ts";
import { print, printJson } from "../../output.ts";

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
