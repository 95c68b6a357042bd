import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { executionId, output } from "../../app/options.ts";
import { executionText } from "../../views/execution.ts";
import { printResource } from "../../views/result.ts";

export default command({
  details: "Prints status, times, input, output, error, failed attempts and the tree of child executions.",
  args: { ...executionId, ...output },
  examples: [["svc logs --execution <execution-id>", "Print the log of an execution"]],
  async run(values) {
    const executions = await connect("executions", values);
    const execution = await executions.getExecution({
      executionId: values["execution-id"],
      view: "tree",
    });
    await printResource(execution, values, () => executionText(execution));
  },
}) as Command;
