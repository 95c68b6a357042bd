/** Tools that call methods of the services. Their parameters are the fields of the request messages. */
import type { JsonObject } from "../../../project/json.ts";
import { DeploymentService } from "../../../proto/svc/v1/deployment_pb.ts";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { WebhookService } from "../../../proto/svc/v1/webhook_pb.ts";
import { defaultEnvironment } from "../../services/request.ts";
import { callStream, callUnary } from "../internal/calls.ts";
import type { UnaryMethod } from "../internal/local-calls.ts";
import { listTargets } from "../internal/targets.ts";
import { commentOf, inputSchemaOf } from "./input-schema.ts";
import { planTool } from "./plan-tool.ts";
import { runAndWait } from "./run.ts";
import { jsonResult, type Tool } from "./tool.ts";

const executions = ExecutionService.method;
const webhooks = WebhookService.method;
/** Entries of a list without `page_size`: fewer than the methods return, for the context of a model. */
const pageSize = 20;

const readOnly = { readOnly: true } as const;
const changes = { readOnly: false } as const;
const page = { page_size: pageSize };

export const controlTools: readonly Tool[] = [
  {
    name: "svc_list_targets",
    title: "List agents and workflows",
    description: "Lists the deployed agents and workflows, also those that are not tools.",
    inputSchema: inputSchemaOf(DeploymentService.method.listDeployments, ["environment"]),
    hints: readOnly,
    method: DeploymentService.method.listDeployments,
    async run(session, input) {
      const environment = input.environment ?? (session.environment || defaultEnvironment);
      const targets = await listTargets(session, String(environment));
      return jsonResult(
        targets.map(({ kind, project, target }) => ({
          ...{ kind, name: target.name ?? null, project, display_name: target.display_name ?? null },
          ...{ description: target.description ?? "", expose_as_tool: target.expose_as_tool ?? false },
        })),
      );
    },
  },
  {
    name: "svc_run",
    title: "Run an agent or workflow",
    description: "Runs an agent or workflow, waits for its end and returns its output.",
    inputSchema: inputSchemaOf(executions.runExecution),
    hints: changes,
    method: executions.runExecution,
    run: (session, input, progress) => runAndWait(session, executions.runExecution, input, progress),
  },
  call("svc_list_executions", "List executions", executions.listExecutions, readOnly, page, ["view"]),
  call("svc_show_execution", "Show an execution", executions.getExecution, readOnly),
  {
    name: "svc_read_logs",
    title: "Read logs",
    description: "Returns the last log entries, oldest first, with the filters given.",
    inputSchema: inputSchemaOf(executions.tailLogs, undefined, ["follow", "after", "audit"]),
    hints: readOnly,
    method: executions.tailLogs,
    async run(session, input) {
      const entries: JsonObject[] = [];
      for await (const { log } of callStream(session, executions.tailLogs, { ...input, follow: false })) {
        entries.push(log as JsonObject);
      }
      return jsonResult(entries);
    },
  },
  {
    name: "svc_replay_execution",
    title: "Replay an execution",
    description:
      "Runs the input of an execution again as a new execution, waits for its end and returns its output.",
    inputSchema: inputSchemaOf(executions.replayExecution),
    hints: changes,
    method: executions.replayExecution,
    run: (session, input, progress) => runAndWait(session, executions.replayExecution, input, progress),
  },
  call("svc_cancel_execution", "Cancel an execution", executions.cancelExecution, {
    ...changes,
    destructive: true,
  }),
  call("svc_list_deliveries", "List webhook deliveries", webhooks.listDeliveries, readOnly, page),
  call("svc_show_delivery", "Show a webhook delivery", webhooks.getDelivery, readOnly),
  planTool,
];

/** A tool that calls one method and returns its response. */
function call(
  name: string,
  title: string,
  method: UnaryMethod,
  hints: Tool["hints"],
  defaults: JsonObject = {},
  hidden: readonly string[] = [],
): Tool {
  return {
    name,
    title,
    description: commentOf(method),
    inputSchema: inputSchemaOf(method, undefined, hidden),
    hints,
    method,
    run: async (session, input) => jsonResult(await callUnary(session, method, { ...defaults, ...input })),
  };
}
