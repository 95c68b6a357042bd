import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";

const cancel: Command = command({
  about:
    "One that waits ends at once. One that runs is told by ctx.signal and has 5 s before its process is ended; what it\nruns itself is cancelled too.",
  args: {
    "execution-id": { type: "positional", description: "The execution, `exe_` and 26 characters" },
    ...json,
    ...verbose,
  },
  async run(values) {
    const executions = await openConnection(values).client("executions");
    const execution = await executions.cancelExecution({ executionId: values["execution-id"] });
    if (values.json) {
      const { ExecutionSchema } = await import("../../../proto/svc/v1/execution_pb.ts");
      return printJson(ExecutionSchema, execution);
    }
    const { executionId, status } = execution;
    if (status === "cancelled") return say.done(`Cancelled ${executionId}.`);
    if (status === "running") return say.done(`${executionId} was told to stop; it has 5 s.`);
    say.line(`${executionId} has ended already: it ${status === "failed" ? "failed" : status}.`);
  },
});

export default cancel;
