import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as exported from "../../plugin/index.ts";
import { root } from "../support/runtimes.ts";

const plugin: string = join(root, "plugin");

test("exports exactly these names", () => {
  expect(Object.keys(exported)).toMatchInlineSnapshot(`
    [
      "toAiSdkTools",
      "toMcpTools",
      "toOpenAiTools",
      "RestPlugin",
      "isRestError",
      "RestError",
    ]
  `);
  const index = readFileSync(join(plugin, "index.ts"), "utf8");
  const names = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    list.split(",").map((name) => name.trim().replace(/^type /, "")),
  );
  expect(names.filter(Boolean).toSorted()).toMatchInlineSnapshot(`
    [
      "AgentTool",
      "AiSdkTool",
      "EgressGuardOptions",
      "FetchExtras",
      "HeaderValues",
      "HookContext",
      "McpTool",
      "McpToolResult",
      "McpTools",
      "OpenAiChatCall",
      "OpenAiChatTool",
      "OpenAiResponsesCall",
      "OpenAiResponsesTool",
      "OpenAiTools",
      "QueryParams",
      "RequestOptions",
      "RestError",
      "RestErrorCode",
      "RestErrorDetails",
      "RestPlugin",
      "RestPluginOptions",
      "RetryOptions",
      "ToolName",
      "ToolParameters",
      "TransferOptions",
      "TransferProgress",
      "UploadOptions",
      "isRestError",
      "toAiSdkTools",
      "toMcpTools",
      "toOpenAiTools",
    ]
  `);
});

test("imports only its own files and types, and ofetch lazily", () => {
  const imports = readdirSync(plugin)
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const source = readFileSync(join(plugin, file), "utf8");
      const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
      return [
        ...code.matchAll(/(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|import\(\s*"([^"]+)"\s*\)/g),
      ]
        .filter(([statement, type]) => !type && !statement.includes("typeof import"))
        .map(([, , from, lazy]) => from ?? `lazily ${lazy}`);
    });
  const outside = new Set(imports.filter((from) => !/^\.\/[a-z-]+\.ts$/.test(from)));
  // Types such as `typeof import("node:http")` are not imports.
  expect([...outside].filter((from) => !from.startsWith("lazily node:")).toSorted()).toEqual([
    "lazily ofetch",
  ]);
});
