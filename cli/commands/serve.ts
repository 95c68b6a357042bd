import { type Command, command } from "../app/command.ts";
import { CliError } from "../app/errors.ts";
import { integer } from "../app/options.ts";
import { onInterruptDo, outliveReaders } from "../app/signals.ts";
import { cleanLine } from "../terminal/format.ts";

const serve: Command = command({
  about:
    "Serves REST, Connect, gRPC and gRPC-Web on one port until it is stopped by Ctrl-C or SIGTERM. On an empty data\nfolder it makes an organization and prints its first API key.",
  args: {
    host: { type: "string", valueHint: "address", description: "Where to listen; SVC_HOST, else 127.0.0.1" },
    port: { type: "string", valueHint: "port", description: "0 picks a free one; SVC_PORT, else 7070" },
    data: {
      type: "string",
      valueHint: "folder",
      description: "Where everything is kept; SVC_DATA_DIR, else .svc",
    },
    "public-url": {
      type: "string",
      valueHint: "url",
      description: "How others reach the service, for webhook URLs; SVC_PUBLIC_URL, else its address",
    },
    "tls-cert": { type: "string", valueHint: "file", description: "Certificate, PEM; SVC_TLS_CERT" },
    "tls-key": { type: "string", valueHint: "file", description: "Its private key, PEM; SVC_TLS_KEY" },
  },
  examples: [["svc serve --port 8080 --data /var/lib/svc", "Another port and folder"]],
  async run(values) {
    const port = values.port === undefined ? undefined : integer(values.port, "--port", 0, 65_535);
    const { serve: start } = await import("../../server/main.ts");
    outliveReaders();
    // The server ends by itself on SIGINT and SIGTERM, after handing back what runs.
    await onInterruptDo(null, async () => {
      try {
        await start({
          host: values.host,
          port,
          dataDir: values.data,
          publicUrl: values["public-url"],
          tlsCert: values["tls-cert"],
          tlsKey: values["tls-key"],
        });
        // Everything is handed back and on disk: whatever might still keep the process is not worth waiting for.
        process.stdout.write("", () => process.exit(0));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const advice = error instanceof Error && "advice" in error ? String(error.advice) : undefined;
        throw new CliError(cleanLine(message), advice ?? "`svc serve --help` lists the options.", {
          cause: error,
        });
      }
    });
  },
});

export default serve;
