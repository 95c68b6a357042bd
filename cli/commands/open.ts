import { openConnection } from "../api/connection.ts";
import { consoleUrl } from "../api/web-console.ts";
import { type Command, command } from "../app/command.ts";
import { json } from "../app/options.ts";
import { print, printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";

export default command({
  details:
    "Opens the web console of the service in the browser: with the program in BROWSER, otherwise with that of the platform.",
  args: {
    environment: {
      type: "string",
      alias: "e",
      valueHint: "name",
      description: "Environment that the console shows (default: all)",
    },
    print: { type: "boolean", description: "Print the address instead of opening it" },
    ...json,
  },
  examples: [["svc open -e staging", "Open the console of one environment"]],
  async run(values) {
    const url = await consoleUrl(openConnection().baseUrl, values.environment);
    if (values.json) return printJson({ url });
    if (values.print) return print(url);
    const { openUrl } = await import("../terminal/open-url.ts");
    await openUrl(url);
    report.success(`Opened ${url}`);
  },
}) as Command;
