import { resolve } from "node:path";
import { type Command, command } from "../app/command.ts";
import { integer } from "../app/option-values.ts";
import { projectFolder } from "../project/folder.ts";

export default command({
  details:
    "Runs a server for the project in this folder, deploys the project, and deploys it again when a file is saved. Prints executions and logs. Data is kept in .svc/dev. Each variable of .env is a secret. Commands in the folder of the project use this server without a key. Ctrl-C stops it.",
  args: {
    dir: { type: "positional", required: false, description: "Folder of the project (default: this one)" },
    port: {
      type: "string",
      valueHint: "port",
      description: "Port, 0 for any free port (default: 7070, or the next free one)",
      parse: integer(0, 65_535),
    },
    "public-url": {
      type: "string",
      valueHint: "url",
      description: "Public address, used in webhook URLs, for example of a tunnel",
    },
    fresh: { type: "boolean", description: "Use an empty store, and remove it at the end" },
    json: { type: "boolean", description: "Print each event as one line of JSON" },
  },
  examples: [
    ["svc dev", "Run the project in this folder"],
    ["svc dev --fresh --port 8080", "Start with an empty store on another port"],
  ],
  async run(values) {
    const { runDev } = await import("../dev/session.ts");
    await runDev(projectFolder(resolve(values.dir ?? ".")), values);
  },
}) as Command;
