import { type Command, command } from "../app/command.ts";
import { data, json, verbose } from "../app/options.ts";
import { projectFolder } from "../project/folder.ts";

export default command({
  details:
    "Uses the runners of the service without a deployment. A file samples/<name>.json is an input, samples/<name>.<slug>.json a payload of a webhook. The variable SVC_SECRET_<NAME> is available as ctx.secrets.<NAME>. Exits with 1 when a run fails.",
  args: {
    name: { type: "positional", required: false, description: "Agent or workflow (default: all)" },
    data: {
      ...data.data,
      description: "JSON file with the input, - for standard input (default: the samples)",
    },
    webhook: {
      type: "string",
      valueHint: "slug",
      description: "Treat the data as a payload of this webhook and apply its field mapping",
    },
    ...json,
    verbose: { ...verbose.verbose, description: "Also print the log of successful runs" },
  },
  examples: [
    ["svc test", "Run everything with its samples"],
    ["svc test triage --data issue.json", "Run one agent and print its output"],
    ["svc test triage --webhook github-issue --data event.json", "Apply a field mapping first"],
  ],
  async run(values) {
    const { runTests } = await import("../local/run-tests.ts");
    await runTests(projectFolder(), values);
  },
}) as Command;
