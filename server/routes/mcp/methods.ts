/**
 * The methods of the Model Context Protocol (https://modelcontextprotocol.io) that the server has: `initialize`, `ping`,
 * `tools/list` and `tools/call`. It keeps no sessions: each request carries its key, and any process can answer it.
 */
import { ConnectError } from "@connectrpc/connect";
import { isJsonObject, type JsonObject } from "../../../project/json.ts";
import { hasScope } from "../../auth/authenticator.ts";
import { toPublicError } from "../../errors.ts";
import { version } from "../../version.ts";
import type { Session } from "../internal/calls.ts";
import { controlTools } from "./control-tools.ts";
import { type Call, RpcError } from "./json-rpc.ts";
import { targetTools } from "./target-tools.ts";
import { describeTool, errorResult, type Progress, type Tool } from "./tool.ts";

/** Newest first. */
export const protocolVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26"];

const instructions =
  "Tools without the prefix svc_ run deployed agents and workflows and return their output. The tools with the prefix svc_ show and control executions, logs and webhook deliveries of the service.";

/**
 * The result of a request.
 * @throws RpcError
 */
export async function answerCall(
  { method, params }: Call,
  session: Session,
  progress: Progress,
  report: (error: unknown) => void,
): Promise<JsonObject> {
  switch (method) {
    case "initialize":
      return initialize(params, session);
    case "ping":
      return {};
    case "tools/list":
      return { tools: (await toolsOf(session)).map(describeTool) };
    case "tools/call":
      return await callTool(params, session, progress, report);
    default:
      throw new RpcError("method", `The server has no method ${method.slice(0, 80)}.`);
  }
}

/** A client that asks for another version gets the newest, and decides whether it can use that. */
function initialize({ protocolVersion }: JsonObject, { hasControlTools }: Session): JsonObject {
  const known = protocolVersions.find((name) => name === protocolVersion);
  return {
    protocolVersion: known ?? protocolVersions[0] ?? "",
    capabilities: { tools: {} },
    serverInfo: { name: "svc", title: "svc", version },
    ...(hasControlTools && { instructions }),
  };
}

/** The tools that the scope of the key allows. */
async function toolsOf(session: Session): Promise<Tool[]> {
  const tools = [...(await targetTools(session)), ...(session.hasControlTools ? controlTools : [])];
  return tools.filter(({ method }) => hasScope(method, session.caller));
}

async function callTool(
  params: JsonObject,
  session: Session,
  progress: Progress,
  report: (error: unknown) => void,
): Promise<JsonObject> {
  const { name, arguments: input = {} } = params;
  if (typeof name !== "string") throw new RpcError("params", "The parameter name must be text.");
  if (!isJsonObject(input)) throw new RpcError("params", "The parameter arguments must be an object.");
  try {
    const control = session.hasControlTools ? controlTools.find((one) => one.name === name) : undefined;
    const tool = control ?? (await targetTools(session)).find((one) => one.name === name);
    if (tool === undefined) throw new RpcError("params", `There is no tool ${name.slice(0, 80)}.`);
    return await tool.run(session, input, progress);
  } catch (error) {
    if (error instanceof RpcError || session.signal.aborted) throw error;
    return errorResult(toPublicError(ConnectError.from(error), report));
  }
}
