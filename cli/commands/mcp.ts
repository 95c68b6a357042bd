import { type Command, command } from "../app/command.ts";
import { oneEnvironment } from "../app/options.ts";
import { selectConnection } from "../profiles/select.ts";

export default command({
  details:
    "Serves the Model Context Protocol over standard input and output, for the configuration of an editor or assistant. The tools are those of /mcp of the service: agents and workflows with expose_as_tool, and tools that show and control executions, as far as the scope of the API key allows.",
  args: {
    ...oneEnvironment,
    tools: {
      type: "enum",
      options: ["all", "targets"],
      valueHint: "which",
      default: "all",
      description: "Offer all tools, or only agents and workflows",
    },
  },
  examples: [
    ["svc mcp", "Serve the tools that the API key allows"],
    ["svc mcp --tools targets -e staging", "Only the agents and workflows of an environment"],
  ],
  async run({ environment, tools }) {
    const selection = selectConnection();
    const base =
      environment === undefined
        ? selection.baseUrl
        : `${selection.baseUrl.replace(/\/env\/[^/]+$/, "")}/env/${encodeURIComponent(environment)}`;
    const { serveStdio } = await import("../mcp/bridge.ts");
    await serveStdio(selection, `${base}/mcp?tools=${tools}`, process.stdin, process.stdout);
  },
}) as Command;
