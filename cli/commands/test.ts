import { type Command, command } from "../app/command.ts";
import { data } from "../app/input.ts";
import { json, verbose } from "../app/options.ts";

const test: Command = command({
  about:
    "Runs agents and workflows on this machine, in the same child processes as the service, without deploying them.\nsamples/<name>.json is an input; samples/<name>.<slug>.json a payload that goes through the webhook's mapping.\nAgents find each variable SVC_SECRET_<NAME> as ctx.secrets.<NAME>. Exits with 1 when anything fails.",
  args: {
    name: { type: "positional", required: false, description: "The agent or workflow; all when not given" },
    data: {
      ...data.data,
      description: "A file with the input; `-` reads standard input. The samples when not given",
    },
    webhook: {
      type: "string",
      valueHint: "slug",
      description: "The data is a payload for this webhook, whose mapping makes the input",
    },
    ...json,
    verbose: { ...verbose.verbose, description: "Also the log of what succeeds" },
  },
  examples: [
    ["svc test", "Check and run everything with its samples"],
    ["svc test triage --data issue.json", "Run one agent and print its output"],
    ["svc test triage --webhook github-issue --data event.json", "Through the mapping of a webhook"],
  ],
  async run(values) {
    const { runTests } = await import("../local/run-tests.ts");
    await runTests(process.cwd(), values);
  },
});

export default test;
