/** Public exports of `svc/plugin`. */

export {
  type AiSdkTool,
  type McpTool,
  type McpToolResult,
  type McpTools,
  type OpenAiChatCall,
  type OpenAiChatTool,
  type OpenAiResponsesCall,
  type OpenAiResponsesTool,
  type OpenAiTools,
  toAiSdkTools,
  toMcpTools,
  toOpenAiTools,
} from "./adapters.ts";
export { RestPlugin } from "./client.ts";
export { isRestError, RestError, type RestErrorCode, type RestErrorDetails } from "./error.ts";
export type {
  EgressGuardOptions,
  FetchExtras,
  HeaderValues,
  HookContext,
  RequestOptions,
  RestPluginOptions,
  TransferOptions,
  TransferProgress,
  UploadOptions,
} from "./options.ts";
export type { QueryParams } from "./path.ts";
export type { RetryOptions } from "./retry.ts";
export type { AgentTool, ToolName, ToolParameters } from "./tools.ts";
