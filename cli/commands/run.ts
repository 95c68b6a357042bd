import { openConnection } from "../api/connection.ts";
import { finishExecution } from "../api/follow-execution.ts";
import { type Command, command } from "../app/command.ts";
import { data, readInput } from "../app/input.ts";
import { environment, json, verbose } from "../app/options.ts";
import { print, printJson } from "../terminal/output.ts";

const run: Command = command({
  about:
    "Shows the log on standard error while it runs, then prints the output as JSON on standard output. Exits with 1\nwhen the execution fails. Ctrl-C detaches: the execution goes on.",
  args: {
    name: { type: "positional", description: "The agent or workflow" },
    ...data,
    detach: { type: "boolean", description: "Print the execution's id and do not wait" },
    kind: {
      type: "enum",
      options: ["agent", "workflow"],
      valueHint: "kind",
      description: "Say which is meant",
    },
    environment: { ...environment.environment, description: "Run what is deployed to this environment" },
    json: { ...json.json, description: "Print the whole execution as JSON instead of its output" },
    ...verbose,
  },
  examples: [
    ["svc run triage --data issue.json", "With an input from a file"],
    ['echo \'{"title": "Hi"}\' | svc run triage --data -', "From standard input"],
  ],
  async run(values) {
    const connection = openConnection(values);
    const input = await readInput(values.data);
    const executions = await connection.client("executions");
    const execution = await executions.runExecution({
      name: values.name,
      kind: values.kind ?? "",
      input,
      environment: values.environment ?? "",
    });
    if (!values.detach) return finishExecution(executions, execution, values);
    const { ExecutionSchema } = await import("../../proto/svc/v1/execution_pb.ts");
    if (values.json) await printJson(ExecutionSchema, execution);
    else print(execution.executionId);
  },
});

export default run;
