/** Agents and workflows with `expose_as_tool` as tools. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../project/json.ts";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { defaultEnvironment } from "../../services/request.ts";
import type { Session } from "../internal/calls.ts";
import { listTargets, type Target, withSchemas } from "../internal/targets.ts";
import { runAndWait } from "./run.ts";
import type { Tool } from "./tool.ts";

/** The tools of the environment of the session. */
export async function targetTools(session: Session): Promise<Tool[]> {
  const targets = await listTargets(session, session.environment || defaultEnvironment);
  const exposed = targets.filter(({ target }) => target.expose_as_tool === true);
  return (await withSchemas(session, exposed)).map(toTool);
}

function toTool({ kind, target }: Target): Tool {
  const name = String(target.name);
  const { runExecution } = ExecutionService.method;
  const outputSchema = objectSchema(target.output_schema);
  const isStructured = outputSchema !== null;
  return {
    name,
    title: String(target.display_name),
    description: String(target.description) || `Runs the ${kind} ${name}.`,
    inputSchema: objectSchema(target.input_schema) ?? { type: "object" },
    ...(isStructured && { outputSchema }),
    hints: { readOnly: false },
    method: runExecution,
    run: (session, input, progress) =>
      runAndWait(session, runExecution, { name, kind, input }, progress, isStructured),
  };
}

/** Schemas of tools must be of objects. Clients know the dialect, and some reject its name. */
function objectSchema(schema: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(schema) || schema.type !== "object") return null;
  const { $schema: _, ...rest } = schema;
  return rest;
}
