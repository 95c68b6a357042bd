/** The project whose tools the tests call, and clients of the official SDK. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { onTestFinished } from "vitest";
import type { ProjectSource } from "../support/project.ts";
import { bareEnvironment, commandOf, type Runtime, root } from "../support/runtimes.ts";
import type { TestServer } from "../support/server.ts";

export const source: ProjectSource = {
  agents: {
    weather: {
      code: `export default async ({ city }, ctx) => {
        console.log("looking up", city);
        if (city === undefined) throw new TypeError("city is missing");
        return { city, degrees: 21, token: ctx.secrets.TOKEN };
      };`,
      ...{ display_name: "Weather", description: "Returns the temperature of a city.", expose_as_tool: true },
    },
    internal: "export default async () => 'internal';",
    patient: {
      code: `export default (_input, ctx) => new Promise((resolve) => {
        console.log("waiting");
        ctx.signal.addEventListener("abort", () => resolve(null));
      });`,
      expose_as_tool: true,
    },
  },
  workflows: {
    report: { code: "export default async () => [1, 2];", expose_as_tool: true },
  },
};

/** A client that is closed after the test. */
export async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

export function overHttp({ url, apiKey }: Pick<TestServer, "url" | "apiKey">, path = "/mcp"): Transport {
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  // The SDK declares its optional properties without `undefined`.
  return new StreamableHTTPClientTransport(new URL(url + path), { requestInit }) as Transport;
}

/** `svc mcp` on a runtime. */
export function overStdio(
  runtime: Runtime,
  { url, apiKey }: Pick<TestServer, "url" | "apiKey">,
  args: readonly string[] = [],
): StdioClientTransport {
  const [command, ...before] = commandOf(runtime);
  return new StdioClientTransport({
    command,
    args: [...before, `${root}/cli/launcher.js`, "mcp", ...args],
    env: { ...bareEnvironment(), SVC_BASE_URL: url, SVC_API_KEY: apiKey },
    stderr: "pipe",
  });
}

/** The text of a result. */
export function textOf(result: unknown): string {
  const { content } = result as { content: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}
