/** Executions as plain objects. */
import { type Execution as ExecutionMessage, ExecutionSchema } from "../proto/svc/v1/execution_pb.ts";
import { plain } from "./plain.ts";
import type { Execution } from "./types.ts";

export function toExecution(message: ExecutionMessage): Execution {
  return plain(ExecutionSchema, message) as Execution;
}

export function isEnd({ status }: Execution): boolean {
  return status !== "queued" && status !== "running";
}
