import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { executionId, output } from "../../app/options.ts";
import { report } from "../../terminal/report.ts";
import { printMessage } from "../../views/result.ts";

export default command({
  details:
    "Queued executions are cancelled immediately. A running execution receives the abort signal ctx.signal and is terminated after 5 s. Its child executions are cancelled too.",
  args: { ...executionId, ...output },
  async run(values) {
    const executions = await connect("executions", values);
    const execution = await executions.cancelExecution({ executionId: values["execution-id"] });
    if (values.json) return printMessage(execution);
    const { executionId: id, status } = execution;
    if (status === "cancelled") return report.success(`Cancelled ${id}.`);
    if (status === "running")
      return report.success(`Requested the cancellation of ${id}; it has 5 s to stop.`);
    report.line(`${id} has already ended with status ${status}.`);
  },
}) as Command;
