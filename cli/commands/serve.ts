import { type Command, command } from "../app/command.ts";
import { CliError } from "../app/errors.ts";
import { integer } from "../app/option-values.ts";
import { ignoreClosedPipe, withInterrupt } from "../app/signals.ts";
import { httpUrl } from "../profiles/values.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

export default command({
  details:
    "Serves REST, Connect, gRPC and gRPC-Web on one port until SIGINT or SIGTERM, then waits up to 20 s for running executions and requeues the rest. With an empty data folder it creates an organization and prints its first API key.",
  args: {
    host: {
      type: "string",
      valueHint: "address",
      description: "Address to listen on (SVC_HOST, default: 127.0.0.1)",
    },
    port: {
      type: "string",
      valueHint: "port",
      description: "Port, 0 for any free port (SVC_PORT, default: 7070)",
      parse: integer(0, 65_535, 8080),
    },
    data: { type: "string", valueHint: "folder", description: "Data folder (SVC_DATA_DIR, default: .svc)" },
    role: {
      type: "enum",
      options: ["all", "api", "worker"],
      valueHint: "role",
      description: "api accepts requests, worker runs executions (SVC_ROLE, default: all)",
    },
    "public-url": {
      type: "string",
      valueHint: "url",
      description: "Public address, used in webhook URLs (SVC_PUBLIC_URL)",
      parse: (text, option) => httpUrl(option, text),
    },
    "tls-cert": { type: "string", valueHint: "file", description: "TLS certificate, PEM (SVC_TLS_CERT)" },
    "tls-key": { type: "string", valueHint: "file", description: "TLS private key, PEM (SVC_TLS_KEY)" },
  },
  examples: [["svc serve --port 8080 --data /var/lib/svc", "Use another port and data folder"]],
  async run(values) {
    const { serve } = await import("../../server/main.ts");
    ignoreClosedPipe();
    // The server handles SIGINT and SIGTERM.
    await withInterrupt(null, async () => {
      try {
        await serve({
          host: values.host,
          port: values.port,
          dataDir: values.data,
          role: values.role,
          publicUrl: values["public-url"],
          tlsCert: values["tls-cert"],
          tlsKey: values["tls-key"],
        });
        // Everything is stored by now, so the process does not wait for open handles.
        process.stdout.write("", () => process.exit(0));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const advice = error instanceof Error && "advice" in error ? String(error.advice) : undefined;
        throw new CliError(sanitizeLine(message), advice ?? "Run `svc serve --help` for all settings.", {
          cause: error,
        });
      }
    });
  },
}) as Command;
