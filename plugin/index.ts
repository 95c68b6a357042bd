/** What users import as `svc/plugin`. */
export { type AiSdkTool, toAiSdkTools } from "./ai-sdk.ts";
export { RestPlugin } from "./client.ts";
export { isRestError, RestError, type RestErrorCode, type RestErrorDetails } from "./error.ts";
export { type McpTool, type McpToolResult, type McpTools, toMcpTools } from "./mcp.ts";
export {
  type OpenAiChatCall,
  type OpenAiChatTool,
  type OpenAiResponsesCall,
  type OpenAiResponsesTool,
  type OpenAiTools,
  toOpenAiTools,
} from "./openai.ts";
export type { EgressGuardOptions, FetchExtras, RequestOptions, RestPluginOptions } from "./options.ts";
export type { QueryParams } from "./path.ts";
export type { RetryOptions } from "./retry.ts";
export type { AgentTool, ToolName, ToolParameters } from "./tools.ts";
export type { TransferOptions, TransferProgress } from "./transfer.ts";
export type { UploadOptions } from "./upload.ts";
