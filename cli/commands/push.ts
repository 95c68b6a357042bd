import { openConnection } from "../api/connection.ts";
import { type Command, command } from "../app/command.ts";
import { json, verbose } from "../app/options.ts";

const push: Command = command({
  about:
    "Checks the project in this folder, shows what would change, asks, uploads what the service has not stored yet\nand deploys it. It returns when every webhook and schedule is live.",
  args: {
    environment: {
      type: "positional",
      required: false,
      description: "Where to deploy; production, or the environment of SVC_BASE_URL",
    },
    "dry-run": { type: "boolean", description: "Show what would change and deploy nothing" },
    force: { type: "boolean", description: "Do not ask" },
    redeploy: { type: "boolean", description: "Deploy also when nothing has changed" },
    ...json,
    verbose: {
      ...verbose.verbose,
      description: "Also every packaged file, every change and the time of each step",
    },
  },
  examples: [
    ["svc push --dry-run", "What a push would change"],
    ["svc push staging --force", "Deploy to another environment, without a question"],
  ],
  async run(values) {
    const connection = openConnection({
      ...values,
      missingKey: {
        message: "SVC_API_KEY is not set.",
        advice: "Set it and repeat: export SVC_API_KEY=<your key>",
      },
    });
    const { push: run } = await import("../push/push.ts");
    await run(process.cwd(), connection, values);
  },
});

export default push;
