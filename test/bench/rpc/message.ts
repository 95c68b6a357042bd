/** The request and the response of the benchmark of calls. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Execution,
  ExecutionSchema,
  type RunExecutionRequestSchema,
} from "../../../proto/svc/v1/execution_pb.ts";

export const apiKey = "svc_01h2x3y4z5a6b7c8d9e0f1g2h3_0123456789abcdef0123456789abcdef";

export const request: MessageInitShape<typeof RunExecutionRequestSchema> = {
  name: "triage",
  input: { title: "App crashes", labels: ["bug", "ios"], issue: { number: 12, open: true } },
};

export const execution: Execution = create(ExecutionSchema, {
  executionId: "exe_01h2x3y4z5a6b7c8d9e0f1g2h3",
  status: "queued",
  kind: "agent",
  name: "triage",
  trigger: "api",
  deploymentId: "dep_01h2x3y4z5a6b7c8d9e0f1g2h3",
  environment: "production",
  attempt: 1,
});
